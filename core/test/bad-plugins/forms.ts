/** Bad plugins whose profile, facts, marks or times are wrong. */
import { type ActionProfile, type Observation, type Plugin, type Stay, secret, Type } from '@claimcheck/core/plugin'
import { Events, parts, profile, ticketPlugin } from './good.ts'
import type { BadPlugin } from './row.ts'

/** Says something else than what it saw. */
function says(alter: (seen: Observation) => unknown): () => Plugin {
  return () =>
    ticketPlugin({ parts: { check: async (look, all) => alter(await parts.check(look, all)) as Observation } })
}

function withProfile(replaced: Partial<Record<keyof ActionProfile, unknown>>): () => Plugin {
  return () => ticketPlugin({ profile: replaced })
}

const { words, facts, params } = profile
/** Some 1,100 instructions. */
const DEAR = '^[a-z0-9./_-]{1,550}$'
const closed = { additionalProperties: false }

/** Takes the times of a stay from something else than the tracker's log. */
function staysBy(at: (event: { at: string; says: string }, date: number) => number): () => Plugin {
  return () =>
    ticketPlugin({
      parts: {
        async stays({ http, auth, ticket }) {
          const stays: Stay[] = []
          for await (const { value, headers } of http.paginate(`${ticket}/events`, { schema: Events, auth })) {
            for (const event of value.filter(({ kind }) => kind === 'closed')) {
              const time = at(event, Date.parse(headers.get('date') ?? ''))
              stays.push({ appeared: { notBefore: time, notAfter: time } })
            }
          }
          return stays
        },
      },
    })
}

export const FORMS: readonly BadPlugin[] = [
  [
    'profile.lint',
    'has a pattern of facts that costs the service too much',
    withProfile({
      facts: Type.Object(
        { ...facts.properties, key: Type.Optional(Type.String({ title: 'Key', pattern: DEAR })) },
        closed,
      ),
    }),
  ],
  [
    'plugin.form',
    'has a pattern of an option of its connections that costs the service too much',
    () =>
      ticketPlugin({
        connection: {
          options: Type.Object(
            {
              token: secret({ title: 'Token', description: 'A token.' }),
              region: Type.Optional(Type.String({ pattern: DEAR })),
            },
            closed,
          ),
        },
      }),
  ],
  [
    'case.verdict',
    'takes the date that an author chose for the time of the outcome',
    staysBy(({ says }) => Date.parse(says)),
    { situations: ['closed late'] },
  ],
  [
    'fault.clock-off',
    "shifts the log's times by the Date of the answer",
    staysBy(({ at }, date) => Date.parse(at) - (date > Date.UTC(2026, 8, 25, 12, 30) ? 60 * 60_000 : 0)),
  ],
  ['clock.machine', "reads the machine's clock", says((seen) => (Date.now() > 0 ? seen : undefined))],
  [
    'clock.machine',
    "reads the machine's clock as a Date",
    says((seen) => (new Date().getFullYear() > 0 ? seen : undefined)),
  ],
  [
    'same.observation',
    'gives other facts each time',
    says((seen) => ({ ...seen, facts: { ...seen.facts, project_id: Math.floor(Math.random() * 1e9) } })),
  ],
  [
    'same.observation',
    'gives the time of the check as a fact',
    () =>
      ticketPlugin({
        parts: {
          observe(seen, look) {
            const observation = parts.observe(seen, look)
            return { ...observation, facts: { ...observation.facts, project_id: look.context.now() } }
          },
        },
      }),
  ],
  [
    'normalize.stable',
    'normalizes what it has normalized',
    () =>
      ticketPlugin({
        parts: { normalize: ({ target, params }) => ({ target, params: { resolution: `${params.resolution}x` } }) },
      }),
  ],
  [
    'normalize.valid',
    'normalizes to what its profile refuses',
    () =>
      ticketPlugin({
        parts: { normalize: ({ target, params }) => ({ target, params: { resolution: ` ${params.resolution}` } }) },
      }),
  ],
  [
    'observation.differs',
    'names a field in differs that is not required',
    says((seen) => (seen.kind === 'present' ? { ...seen, differs: ['state'] } : seen)),
  ],
  [
    'observation.facts',
    'returns a fact that its profile does not declare',
    says((seen) => ({ ...seen, facts: { ...seen.facts, assignee: 'mallory' } })),
  ],
  [
    'observation.facts',
    'returns a fraction as a fact',
    says((seen) => ({ ...seen, facts: { ...seen.facts, project_id: 17.5 } })),
  ],
  ['observation.mark', 'marks what is there as claimed', says((seen) => ({ ...seen, mark: 'may_have_been' }))],
  [
    'observation.mark',
    'invents a mark',
    says((seen) => (seen.kind === 'absent' ? { ...seen, mark: 'certain' } : seen)),
    { situations: ['open'] },
  ],
  [
    'observation.stays',
    'gives stays that begin after they end',
    says((seen) => ({ ...seen, stays: [{ appeared: { notBefore: 2000, notAfter: 1000 } }] })),
  ],
  ['observation.form', 'says a verdict', says((seen) => ({ ...seen, kind: 'verified' }))],
  ['observation.form', 'returns nothing', says(() => null)],
  ['profile.lint', 'has facts that are not closed', withProfile({ facts: Type.Object(facts.properties) })],
  [
    'profile.lint',
    'has a fact that is a fraction',
    withProfile({
      facts: Type.Object({ ...facts.properties, votes: Type.Optional(Type.Number({ title: 'Votes' })) }, closed),
    }),
  ],
  [
    'profile.lint',
    'has a fact of free text',
    withProfile({
      facts: Type.Object({ ...facts.properties, name: Type.Optional(Type.String({ title: 'Name' })) }, closed),
    }),
  ],
  [
    'profile.lint',
    'requires a field that claims do not have',
    withProfile({ required: { resolution: 'content', assignee: 'content' } }),
  ],
  [
    'profile.lint',
    'has words for a fact that it does not have',
    withProfile({ words: { ...words, facts: { reopened_at: 'It was opened again.' } } }),
  ],
  [
    'profile.lint',
    'has params without titles',
    withProfile({ params: Type.Object({ resolution: Type.String() }, closed) }),
  ],
  ['profile.lint', 'has a deadline before the end of the tolerance', withProfile({ deadlineMs: 1000 })],
  [
    'profile.aliases',
    'has an alias for a provider that it does not offer',
    withProfile({ aliases: { 'jira.ticket.close': { providers: ['jira'] } } }),
  ],
  [
    'profile.examples',
    'has an example that it does not allow',
    withProfile({
      params: Type.Object(
        { resolution: Type.String({ ...params.properties.resolution, examples: ['not fixed'] }) },
        closed,
      ),
    }),
  ],
  [
    'profile.access',
    'is anonymous and says nowhere where it reads',
    withProfile({ access: { permission: 'None.', anonymous: true } }),
  ],
  [
    'words.fill',
    'has a sentence for which facts are missing',
    withProfile({
      words: { ...words, outcomes: { ...words.outcomes, failed: 'Ticket {target} was closed at {closed_at}.' } },
    }),
    { situations: ['open'] },
  ],
  ['plugin.form', 'has no hosts in its manifest', () => ticketPlugin({ plugin: { manifest: { hosts: [] } } })],
  [
    'plugin.setup',
    'fails to set up',
    () =>
      ticketPlugin({
        setup() {
          throw new Error('no')
        },
      }),
  ],
  [
    'plugin.options',
    'refuses the options that it is given',
    () => ticketPlugin({ plugin: { options: Type.Object({ region: Type.String() }) } }),
  ],
]
