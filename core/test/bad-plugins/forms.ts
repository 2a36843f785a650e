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
  {
    what: 'has a pattern of facts that costs the service too much',
    caughtBy: 'profile.lint',
    plugin: withProfile({
      facts: Type.Object(
        { ...facts.properties, key: Type.Optional(Type.String({ title: 'Key', pattern: DEAR })) },
        closed,
      ),
    }),
  },
  {
    what: 'has a pattern of an option of its connections that costs the service too much',
    caughtBy: 'plugin.form',
    plugin: () =>
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
  },
  {
    what: 'takes the date that an author chose for the time of the outcome',
    caughtBy: 'case.verdict',
    situations: ['closed late'],
    plugin: staysBy(({ says }) => Date.parse(says)),
  },
  {
    what: "shifts the log's times by the Date of the answer",
    caughtBy: 'fault.clock-off',
    plugin: staysBy(({ at }, date) => Date.parse(at) - (date > Date.UTC(2026, 8, 25, 12, 30) ? 60 * 60_000 : 0)),
  },
  {
    what: "reads the machine's clock",
    caughtBy: 'clock.machine',
    plugin: says((seen) => (Date.now() > 0 ? seen : undefined)),
  },
  {
    what: "reads the machine's clock as a Date",
    caughtBy: 'clock.machine',
    plugin: says((seen) => (new Date().getFullYear() > 0 ? seen : undefined)),
  },
  {
    what: 'gives other facts each time',
    caughtBy: 'same.observation',
    plugin: says((seen) => ({ ...seen, facts: { ...seen.facts, project_id: Math.floor(Math.random() * 1e9) } })),
  },
  {
    what: 'gives the time of the check as a fact',
    caughtBy: 'same.observation',
    plugin: () =>
      ticketPlugin({
        parts: {
          observe(seen, look) {
            const observation = parts.observe(seen, look)
            return { ...observation, facts: { ...observation.facts, project_id: look.context.now() } }
          },
        },
      }),
  },
  {
    what: 'normalizes what it has normalized',
    caughtBy: 'normalize.stable',
    plugin: () =>
      ticketPlugin({
        parts: { normalize: ({ target, params }) => ({ target, params: { resolution: `${params.resolution}x` } }) },
      }),
  },
  {
    what: 'normalizes to what its profile refuses',
    caughtBy: 'normalize.valid',
    plugin: () =>
      ticketPlugin({
        parts: { normalize: ({ target, params }) => ({ target, params: { resolution: ` ${params.resolution}` } }) },
      }),
  },
  {
    what: 'names a field in differs that is not required',
    caughtBy: 'observation.differs',
    plugin: says((seen) => (seen.kind === 'present' ? { ...seen, differs: ['state'] } : seen)),
  },
  {
    what: 'returns a fact that its profile does not declare',
    caughtBy: 'observation.facts',
    plugin: says((seen) => ({ ...seen, facts: { ...seen.facts, assignee: 'mallory' } })),
  },
  {
    what: 'returns a fraction as a fact',
    caughtBy: 'observation.facts',
    plugin: says((seen) => ({ ...seen, facts: { ...seen.facts, project_id: 17.5 } })),
  },
  {
    what: 'marks what is there as claimed',
    caughtBy: 'observation.mark',
    plugin: says((seen) => ({ ...seen, mark: 'may_have_been' })),
  },
  {
    what: 'invents a mark',
    caughtBy: 'observation.mark',
    situations: ['open'],
    plugin: says((seen) => (seen.kind === 'absent' ? { ...seen, mark: 'certain' } : seen)),
  },
  {
    what: 'gives stays that begin after they end',
    caughtBy: 'observation.stays',
    plugin: says((seen) => ({ ...seen, stays: [{ appeared: { notBefore: 2000, notAfter: 1000 } }] })),
  },
  { what: 'says a verdict', caughtBy: 'observation.form', plugin: says((seen) => ({ ...seen, kind: 'verified' })) },
  { what: 'returns nothing', caughtBy: 'observation.form', plugin: says(() => null) },
  {
    what: 'has facts that are not closed',
    caughtBy: 'profile.lint',
    plugin: withProfile({ facts: Type.Object(facts.properties) }),
  },
  {
    what: 'has a fact that is a fraction',
    caughtBy: 'profile.lint',
    plugin: withProfile({
      facts: Type.Object({ ...facts.properties, votes: Type.Optional(Type.Number({ title: 'Votes' })) }, closed),
    }),
  },
  {
    what: 'has a fact of free text',
    caughtBy: 'profile.lint',
    plugin: withProfile({
      facts: Type.Object({ ...facts.properties, name: Type.Optional(Type.String({ title: 'Name' })) }, closed),
    }),
  },
  {
    what: 'requires a field that claims do not have',
    caughtBy: 'profile.lint',
    plugin: withProfile({ required: { resolution: 'content', assignee: 'content' } }),
  },
  {
    what: 'has words for a fact that it does not have',
    caughtBy: 'profile.lint',
    plugin: withProfile({ words: { ...words, facts: { reopened_at: 'It was opened again.' } } }),
  },
  {
    what: 'has params without titles',
    caughtBy: 'profile.lint',
    plugin: withProfile({ params: Type.Object({ resolution: Type.String() }, closed) }),
  },
  {
    what: 'has a deadline before the end of the tolerance',
    caughtBy: 'profile.lint',
    plugin: withProfile({ deadlineMs: 1000 }),
  },
  {
    what: 'has an alias for a provider that it does not offer',
    caughtBy: 'profile.aliases',
    plugin: withProfile({ aliases: { 'jira.ticket.close': { providers: ['jira'] } } }),
  },
  {
    what: 'has an example that it does not allow',
    caughtBy: 'profile.examples',
    plugin: withProfile({
      params: Type.Object(
        { resolution: Type.String({ ...params.properties.resolution, examples: ['not fixed'] }) },
        closed,
      ),
    }),
  },
  {
    what: 'is anonymous and says nowhere where it reads',
    caughtBy: 'profile.access',
    plugin: withProfile({ access: { permission: 'None.', anonymous: true } }),
  },
  {
    what: 'has a sentence whose values are missing',
    caughtBy: 'words.fill',
    situations: ['open'],
    plugin: withProfile({
      words: { ...words, outcomes: { ...words.outcomes, failed: 'Ticket {target} was closed at {closed_at}.' } },
    }),
  },
  {
    what: 'has no hosts in its manifest',
    caughtBy: 'plugin.form',
    plugin: () => ticketPlugin({ plugin: { manifest: { hosts: [] } } }),
  },
  {
    what: 'fails to set up',
    caughtBy: 'plugin.setup',
    plugin: () =>
      ticketPlugin({
        setup() {
          throw new Error('no')
        },
      }),
  },
  {
    what: 'refuses the options that it is given',
    caughtBy: 'plugin.options',
    plugin: () => ticketPlugin({ plugin: { options: Type.Object({ region: Type.String() }) } }),
  },
]
