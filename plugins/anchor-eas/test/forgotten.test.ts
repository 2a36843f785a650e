// Test run: end-to-end
/** The host's database was restored from an older copy: the chain may already have the anchor that it plans. */
import t from 'tap'
import { answers } from '../../../test/chain/proxy.ts'
import {
  after,
  countAnchors,
  type Fixture,
  failsWith,
  finalAnchor,
  setUpPrepared,
  signal,
  subjectOf,
  submit,
} from './fixture.ts'

async function land(fixture: Fixture, subject = subjectOf(1)) {
  const signed = await submit(fixture, subject)
  await fixture.chain.mine()
  return signed
}

t.test('an attestation of the subject that the host does not know is found before another is signed', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain, anchorer } = fixture
  const subject = subjectOf(1)
  const { txHash } = await land(fixture, subject)
  t.match(await anchorer.look(subject, [], signal), { state: 'mined', txHash })
  await chain.finalize()
  const { anchor } = await finalAnchor(fixture, subject, [])
  t.equal(anchor.txHash, txHash)
  t.equal(await countAnchors(fixture), 1)
})

t.test('it is found before later transactions of the account, and after the previous anchor', async (t) => {
  const fixture = await setUpPrepared(t)
  const { chain } = fixture
  const first = subjectOf(1)
  await land(fixture, first)
  await chain.finalize()
  const { anchor } = await finalAnchor(fixture, first, [])
  const second = subjectOf(2, after(anchor))
  const { txHash } = await land(fixture, second)
  await land(fixture)
  await land(fixture)
  await chain.finalize()
  t.equal((await finalAnchor(fixture, second, [])).anchor.txHash, txHash)
})

t.test('a subject that is not attested, or with another previous anchor, is waiting', async (t) => {
  const fixture = await setUpPrepared(t)
  const { anchorer, chain } = fixture
  const first = subjectOf(1)
  await land(fixture, first)
  await chain.finalize()
  const { anchor } = await finalAnchor(fixture, first, [])
  const waiting = { state: 'waiting', isKnown: false }
  t.same(await anchorer.look(subjectOf(1), [], signal), waiting)
  t.same(await anchorer.look({ ...first, previous: after(anchor) }, [], signal), waiting)
})

t.test('when the account has made no transaction since the last anchor, no old state is requested', async (t) => {
  const fixture = await setUpPrepared(t)
  const { anchorer, chain, proxy } = fixture
  const first = subjectOf(1)
  // The node can give several blocks the same second.
  await chain.rpc('evm_increaseTime', 60)
  await land(fixture, first)
  await chain.mine(300)
  const { anchor } = await finalAnchor(fixture, first, [])
  const asked = proxy.calls.length
  const sighting = await anchorer.look(subjectOf(2, after(anchor)), [], signal)
  t.same(sighting, { state: 'waiting', isKnown: false })
  const calls = proxy.calls.slice(asked)
  t.equal(calls.filter((method) => method === 'eth_getTransactionCount').length, 1)
  t.ok(calls.length < 30)
})

t.test('a node that does not show the attestation is an error', async (t) => {
  const fixture = await setUpPrepared(t)
  const { anchorer, proxy } = fixture
  const subject = subjectOf(1)
  await land(fixture, subject)
  for (const [method, answer] of [
    ['eth_getTransactionReceipt', null],
    ['eth_call', `0x${'0'.repeat(62)}20${'0'.repeat(9 * 64)}${'0'.repeat(61)}140${'0'.repeat(64)}`],
  ] as const) {
    proxy.clear()
    proxy.inject({ on: method, fault: answers(answer) })
    await failsWith(t, 'unexpected_response', anchorer.look(subject, [], signal))
  }
})
