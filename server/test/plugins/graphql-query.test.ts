import { queryProblem } from '@claimcheck/server/plugins/graphql-query'
import t from 'tap'

const rows: [text: string, problem: RegExp | undefined][] = [
  ['{ viewer { login } }', undefined],
  ['query Issue($id: ID!) { issue(id: $id) { ...State } } fragment State on Issue { state }', undefined],
  ['{ find(text: "mutation { close }") } # mutation { close }', undefined],
  ['mutation { close }', /not one query/],
  ['subscription { issues }', /not one query/],
  ['query A { a } mutation B { b }', /not one query/],
  ['query A { a } # comment\rmutation B { b }', /not one query/],
  ['query A { a } """\nfragment\n""" mutation B { b }', /no GraphQL document|not one query/],
  ['query A { a } query B { b }', /not one query/],
  ['fragment A on B { c }', /not one query/],
  ['type Query { a: Int }', /not one query/],
  ['query { a } extend type Query { a: Int }', /not one query/],
  ['', /no GraphQL document/],
  ['query', /no GraphQL document/],
  [`{${'a'.repeat(40_000)}}`, /longer/],
  [`${'{a'.repeat(2000)}${'}'.repeat(2000)}`, /no GraphQL document/],
  [`{${'a '.repeat(6000)}}`, /no GraphQL document/],
]
for (const [text, problem] of rows) {
  t.test(`${JSON.stringify(text.slice(0, 60))} is ${problem ? 'refused' : 'one query'}`, async (t) => {
    if (problem) t.match(queryProblem(text), problem)
    else t.equal(queryProblem(text), undefined)
  })
}
