/** A verifier that reads many claims by one list, and bad ones: one claim's trouble becomes another one's, or nobody's. */
import {
  bearer,
  type Claim,
  DestinationError,
  isDestinationError,
  type Observation,
  type Plugin,
  Type,
  Value,
  type Verifier,
} from '@claimcheck/core/plugin'
import { BASE, type Look, Project, parts, type ReadTicket, Ticket, ticketPlugin } from './good.ts'
import { type BadPlugin, readingBy } from './row.ts'

type CheckMany = NonNullable<Verifier['checkMany']>
type Result = Observation | DestinationError

interface Parts {
  /** @returns the ticket; undefined where the list does not have it */
  find(list: readonly unknown[], number: number): ReadTicket | undefined
  /** Reads the events of a closed ticket. */
  guard(read: () => Promise<Observation>): Promise<Result>
  /** What is returned of the results. */
  results(results: readonly Result[], numbers: readonly number[]): readonly Result[]
}

const manyParts: Parts = {
  find(list, number) {
    const found = list.find((one) => Value.Check(Ticket, one) && one.number === number)
    // An item that cannot be read could be this one.
    if (!found && !list.every((one) => Value.Check(Ticket, one))) throw new DestinationError('unexpected_response')
    return found as ReadTicket | undefined
  },
  guard: (read) =>
    read().catch((error: unknown) => {
      if (isDestinationError(error)) return error
      throw error
    }),
  results: (results) => results,
}

export function manyPlugin(replaced: Partial<Parts> = {}, check?: Verifier['check']): Plugin {
  const { find, guard, results } = { ...manyParts, ...replaced }
  const checkMany: CheckMany = async (checks, context) => {
    const auth = bearer((context.connection!.options as { token: string }).token)
    const { http } = context
    const numbers = checks.map(({ claim }) => Number(claim.target.split('-')[1]))
    const project = `${BASE}/projects/ACME`
    const { value } = await http.json(project, { schema: Project, auth })
    if (!value.may_read) throw new DestinationError('forbidden')
    const list = await http.json(`${project}/tickets?numbers=${numbers.toSorted().join()}`, {
      schema: Type.Array(Type.Unknown()),
      auth,
    })
    const read = async (index: number): Promise<Observation> => {
      const { claim } = checks[index]!
      const ticket = find(list.value, numbers[index]!)
      const look: Look = {
        claim: claim as Claim,
        context: context as never,
        http,
        auth,
        project,
        ticket: `${project}/tickets/${numbers[index]}`,
      }
      return parts.observe(
        { id: value.id, ticket, stays: ticket?.state === 'closed' ? await parts.stays(look) : [] },
        look,
      )
    }
    return results(await Promise.all(checks.map((_, index) => guard(() => read(index)))), numbers) as never
  }
  return ticketPlugin({ verifier: { checkMany, ...(check ? { check } : {}) } })
}

const plainlyFound: Parts['find'] = (list, number) =>
  list.find((one) => (one as { number?: number }).number === number) as ReadTicket | undefined

export const MANY: readonly BadPlugin[] = readingBy('many', [
  [
    'many.each',
    'gives results for what it found alone',
    () =>
      manyPlugin({
        results: (results) =>
          results.length === 1 ? results : results.filter((one) => !isDestinationError(one) && 'state' in one.facts),
      }),
  ],
  [
    'many.order',
    "gives results in the destination's order",
    () =>
      manyPlugin({
        results: (results, numbers) =>
          numbers
            .map((number, index) => ({ number, result: results[index]! }))
            .toSorted((one, other) => one.number - other.number)
            .map(({ result }) => result),
      }),
  ],
  ['many.errors', 'fails for all claims where one could not be read', () => manyPlugin({ guard: (read) => read() })],
  ['many.malformed', 'takes a malformed item of a list for absence', () => manyPlugin({ find: plainlyFound })],
  [
    'many.same',
    'says of a claim by itself what it does not say of many',
    () => manyPlugin({}, (async () => ({ kind: 'absent', facts: { project_id: 17 } })) as never),
  ],
])
