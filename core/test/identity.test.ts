/** Reads through connections that know the identity of their destination. */
import { heldToIdentity, isIdentity, type KnownIdentity } from '@claimcheck/core/hosting'
import type { Observation } from '@claimcheck/core/rules'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)
const known = { text: 'system-1/timeline-3', since: NOON }
const time = { notBefore: NOON, notAfter: NOON + 999 }
const absent: Observation = { kind: 'absent', facts: {} }
const differing: Observation = { kind: 'present', facts: {}, differs: ['amount'] }
const claimed: Observation = { kind: 'present', facts: { id: 1 }, differs: [], stays: [{ appeared: time }] }
const told = (seen: Observation, identity = known.text): Observation => ({ ...seen, identity })

for (const seen of [absent, differing, claimed, { ...absent, mark: 'final' as const }, { ...absent, stays: [] }]) {
  const title = JSON.stringify(seen)
  t.test(`a read of the known destination stays as it is: ${title}`, async (t) => {
    t.strictSame(heldToIdentity(told(seen), known, NOON), seen)
  })
  t.test(`a read of another destination is none: ${title}`, async (t) => {
    t.equal(heldToIdentity(told(seen, 'system-1/timeline-4'), known, NOON), undefined)
  })
}

const unknown: readonly [
  why: string,
  seen: (one: Observation) => Observation,
  known: KnownIdentity | undefined,
  at?: number,
][] = [
  ['no trial told one', told, undefined],
  ['the read tells none', (one) => one, known],
  ['neither tells one', (one) => one, undefined],
  ['it became known after the submission', told, known, NOON - 1],
]
for (const [why, given, identity, submittedAt = NOON] of unknown) {
  t.test(`nothing is blamed by a read of an unknown identity: ${why}`, async (t) => {
    const held = (one: Observation) => heldToIdentity(given(one), identity, submittedAt)
    t.strictSame(held(absent), { ...absent, mark: 'may_have_been' })
    t.strictSame(held(differing), { ...differing, mark: 'may_have_been' })
    for (const mark of ['final', 'never_before'] as const)
      t.strictSame(held({ ...absent, mark }), { ...absent, mark: 'may_have_been' })
    t.strictSame(held({ ...absent, mark: 'unsettled' }), { ...absent, mark: 'unsettled' })
    const stays = [{ appeared: time, removed: time }]
    const later = [{ appeared: { notAfter: time.notAfter }, removed: time }]
    t.strictSame(held({ ...absent, stays }), { ...absent, stays: later, mark: 'may_have_been' })
    const verified = { ...claimed, stays: [{ appeared: { notAfter: time.notAfter } }] }
    t.strictSame(held(claimed), verified, 'what is there is there, and no entry says that it came late')
  })
}

t.test('a claim that was read at one destination is not read at the next', async (t) => {
  const moved = { ...known, since: NOON + 60_000, former: 'system-1/timeline-2' }
  for (const seen of [absent, claimed]) {
    const held = (identity: KnownIdentity, firstReadAt?: number) =>
      heldToIdentity(told(seen), identity, NOON, firstReadAt)
    t.equal(held(moved, NOON + 59_999), undefined, 'it was read before')
    t.notSame(held(moved), undefined, 'this is its first read')
    t.notSame(held(moved, NOON + 60_000), undefined, 'all its reads are of this destination')
    t.notSame(held({ ...moved, former: null }, NOON), undefined, 'none was known before')
    t.strictSame(held({ ...moved, since: NOON }, NOON), seen, 'the destination changed before its submission')
  }
})

t.test('an identity is a short text that can be printed', async (t) => {
  for (const right of ['1', 'eip155:1/0xd4e5', 'x'.repeat(200)]) t.ok(isIdentity(right), right)
  for (const wrong of ['', 'x'.repeat(201), 'two words', 'line\n', 'ü', 1, null, undefined, {}])
    t.notOk(isIdentity(wrong), JSON.stringify(wrong))
})
