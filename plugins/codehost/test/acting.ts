/** What an action makes of what a code host shows: claims of it are checked at a host that answers with plain data. */
import { type Instant, type JsonObject, type Observation, type TSchema, Value } from '@claimcheck/core/plugin'
import {
  codeHostVerifiers,
  defineProvider,
  type FoundRepository,
  type Readers,
} from '@claimcheck/plugin-codehost/provider'
import type { Test } from 'tap'
import { createContext } from './context.ts'

export const NOON = Date.UTC(2026, 8, 25, 12)
export const MINUTE = 60_000
/** Of the repository, at every host here. */
export const REPOSITORY = { repositoryId: '7', repositoryName: 'acme/app', ageMs: 10_000, clockBehindMs: 0 }
export const at = (ms: number) => ({ notBefore: ms, notAfter: ms + 999 })

interface Given {
  readonly params?: JsonObject
  /** The name under which it is claimed, where that is another one. */
  readonly as?: string
  /** From the claim to this look; at once, when left out. */
  readonly afterMs?: number
  /** What earlier looks saw, and how long after the claim. */
  readonly earlier?: readonly (readonly [afterMs: number, seen: Partial<Observation> & { facts?: JsonObject }])[]
}

interface Seen {
  readonly kind: 'present' | 'absent'
  readonly differs?: readonly string[]
  readonly mark?: string
  readonly stays?: readonly object[]
  readonly facts?: Readonly<Record<string, unknown>>
  /** That of the repository, when left out. */
  readonly ageMs?: number
}

export interface Row<F> extends Given {
  readonly name: string
  readonly found: Omit<F, keyof FoundRepository>
  readonly sees: Seen
}

/** @param found what the host shows @param sees what must be reported, beside facts that are not named */
export const row = <F>(name: string, found: Row<F>['found'], sees: Seen, given: Given = {}): Row<F> => ({
  ...{ name, found, sees, ...given },
})

export const present = (seen: Omit<Seen, 'kind'> = {}): Seen => ({ kind: 'present', ...seen })
export const absent = (seen: Omit<Seen, 'kind'> = {}): Seen => ({ kind: 'absent', ...seen })
export const differing = (fields: string | readonly string[], seen: Omit<Seen, 'kind'> = {}): Seen =>
  present({ differs: [fields].flat(), ...seen })
export const PRESENT = present()
export const ABSENT = absent()

/** Claimed at noon. @param reader the one that the action asks */
export function acting<F>(action: string, reader: keyof Readers<unknown>, params: JsonObject) {
  let shown: unknown
  const provider = defineProvider<null>({
    connectionType: {
      provider: 'plain',
      title: 'Plain',
      options: { type: 'object', properties: {} } as never,
      help: 'None.',
      baseUrl: () => 'https://plain.example',
      fits: () => true,
      probe: async () => ({ proves: 'works', scopes: [], warnings: [] }),
    },
    access: () => null,
    ownersOf: () => undefined,
    readers: { [reader]: async () => shown } as Readers<null>,
  })
  const verifier = codeHostVerifiers([provider]).find(({ profile }) => profile.action === action)!

  return async (t: Test, row: Row<F>) => {
    shown = { ...REPOSITORY, ...row.found }
    const now: Instant = NOON + (row.afterMs ?? 0)
    const previous = (row.earlier ?? []).map(([afterMs, seen]) => ({
      sentAt: NOON + afterMs,
      observation: { kind: 'absent', facts: {}, ...seen } as Observation,
    }))
    const context = createContext({ now: () => now, previous })
    const claim = {
      action: row.as ?? action,
      target: 'acme/app',
      params: { ...params, ...row.params },
      claimedAt: NOON,
      deadlineAt: NOON + verifier.profile.deadlineMs,
      submittedAt: NOON,
    }
    const connection = { id: 'conn_1', provider: 'plain', options: {} }
    const { facts, ageMs, ...seen } = await verifier.check(claim, { ...context, connection })
    const { facts: expectedFacts = {}, ageMs: expectedAgeMs = REPOSITORY.ageMs, ...expected } = row.sees
    t.strictSame(seen, expected.kind === 'present' ? { differs: [], ...expected } : expected, row.name)
    t.match(facts, { repository: 'acme/app', repository_id: '7', ...expectedFacts }, `${row.name}: facts`)
    t.ok(Value.Check(verifier.profile.facts as TSchema, facts), `${row.name}: the profile has these facts`)
    t.equal(ageMs, expectedAgeMs, `${row.name}: the age is passed on`)
  }
}
