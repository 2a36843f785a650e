/** Whose checks begin now, whose wait, and whose share the outcome of another one. */
import type { CheckRecord } from '@claimcheck/core/rules'
import { createAdmission, type Entry } from '@claimcheck/server/features/claims/admission'
import { createConcurrencyLimit } from '@claimcheck/server/outbound/concurrency-limit'
import type { DueClaim } from '@claimcheck/server/storage/claims'
import t from 'tap'

const TIMEOUT_MS = 10_000
const TIMEOUT: CheckRecord = { sentAt: 0, answeredAt: TIMEOUT_MS, failure: { code: 'timeout' } }

function admissionOf(concurrency: number) {
  return createAdmission({
    slots: createConcurrencyLimit(concurrency),
    config: { checks: { timeoutMs: TIMEOUT_MS } as never },
    destinations: { of: (origin: string) => [origin] } as never,
    now: () => 0,
    budgets: { mayBegin: () => true, begin: () => () => {} } as never,
  })
}

let claims = 0
function claimAt(origin: string): DueClaim {
  const claimId = `clm_${++claims}`
  return { claimId, target: claimId, deadlineAt: 0, lane: `ws_1 ws_1 key_1 conn_1 https://${origin}.example` }
}

/** Lets checks that decide begin, at one destination after the other, until no slot is left for who pays. */
function fill(admission: ReturnType<typeof createAdmission>, origins: readonly string[]) {
  const entries: Entry[] = []
  for (const origin of origins) {
    for (;;) {
      const entry = admission.enter(claimAt(origin), 'deciding')
      if (!entry) break
      entries.push(entry)
    }
  }
  return entries
}

t.test('who was refused a slot may share when its destination is known to hang, though no slot is free', async (t) => {
  const admission = admissionOf(64)
  const entries = fill(admission, ['hanging', ...Array.from({ length: 20 }, (_, index) => `other-${index}`)])
  const refused = claimAt('hanging')
  t.notOk(admission.enter(refused, 'deciding'))
  t.ok(admission.busy('deciding').includes('ws_1'))
  for (const [index, entry] of entries.slice(0, 4).entries()) {
    entry.end(TIMEOUT)
    t.ok(admission.enter(claimAt(`next-${index}`), 'deciding'), 'another one takes the slot')
  }
  const busy = admission.busy('deciding')
  t.notOk(admission.enter(claimAt('last'), 'deciding'), 'no slot is free')
  t.ok(admission.enter(refused, 'deciding')?.shared)
  t.notOk(busy.includes('ws_1'), 'the queue is not read without it')
})
