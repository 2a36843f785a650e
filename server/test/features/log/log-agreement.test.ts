/** How long a synchronous standby that was seen stands for a host that died with its server. Threat O6 of `security.md`. */
import { createLogAgreement } from '@claimcheck/server/features/log/log-agreement'
import { createHostIdentity } from '@claimcheck/server/features/log/memory/host-identity'
import t, { type Test } from 'tap'

const KNOWING = { knowLog: true, knowNewest: true, proveNewest: false }

/** A host beside one that dies with the server. @param outageMs until another server is there */
async function afterOutage(t: Test, outageMs: number): Promise<string | undefined> {
  let now = 1_000_000
  t.intercept(performance, 'now', { value: () => now })
  let log = { logId: 'log', answersAs: 'a/1', agreedOn: 'a/1', contradictedBy: null }
  let system = 'system/1'
  const killed = { hostId: 'killed', until: 1, comparedOn: 'a/1', asked: 0, answered: 0, knows: 'log', isAlive: true }
  const tx = { log: { lock: async () => log, bind: async () => (log = { ...log, agreedOn: log.answersAs }) } }
  const storage = {
    read: {
      log: { system: async () => system, all: async () => [{ logId: 'log', agreedSystem: 'system/1' }] },
    },
    write: async (work: (given: typeof tx) => Promise<unknown>) => work(tx),
    shared: {
      logHosts: { all: async () => [killed], beat: async () => {}, note: async () => {}, leave: async () => {} },
      durability: async () => ({ synchronous: 1, synchronousCommit: 'on' }),
    },
  }
  const logger = { info() {}, warn() {} }
  const hostIdentity = createHostIdentity({ config: { dataDir: t.testdir() } })
  const agreement = createLogAgreement({ storage, logger, config: {}, hostIdentity } as never)
  const settle = async () => agreement.settle(await agreement.begin(), log as never, KNOWING)
  t.equal(await settle(), undefined, 'signs')
  now += outageMs
  log = { ...log, answersAs: 'b/1' }
  system = 'system/2'
  t.match(await settle(), /until another host has compared/)
  now += 21_000
  return settle()
}

t.test('a failover that took a minute goes on, as the standby was synchronous', async (t) => {
  t.equal(await afterOutage(t, 60_000), undefined)
})

t.test('a command that looked at the log is no host: nobody waits for it, or asks for its record', async (t) => {
  const log = { logId: 'log', answersAs: 'b/1', agreedOn: 'a/1', contradictedBy: null }
  const ran = { until: 1, comparedOn: 'a/1', asked: 0, answered: 0, knows: 'log', isAlive: true }
  const hosts = [
    { ...ran, hostId: 'server', process: 'abc' },
    { ...ran, hostId: 'earlier', process: '' },
    { ...ran, hostId: 'tool', process: 'command' },
  ]
  const beats: object[] = []
  const storage = {
    read: { log: { state: async () => log, system: async () => 'system/2', all: async () => [] } },
    shared: { logHosts: { all: async () => hosts, beat: async (beat: object) => beats.push(beat) } },
  }
  const logger = { info() {}, warn() {} }
  const hostIdentity = createHostIdentity({ config: { dataDir: t.testdir() } })
  const agreement = createLogAgreement({ storage, logger, config: {}, hostIdentity } as never)
  const before = await agreement.ranBefore(log as never)
  t.strictSame(
    before?.map(({ hostId }) => hostId),
    ['server', 'earlier'],
  )
  t.match(await agreement.settle(await agreement.begin(), log as never, KNOWING), /until 2 other hosts have compared/)
  t.match(beats, [{ process: 'command' }])
  await t.rejects(agreement.forget('tool'), { code: 'not_found' })
})

t.test('after a longer outage the operator decides: the server may have gone on without its standby', async (t) => {
  t.match(await afterOutage(t, 180_000), /may lack what hosts signed that ran and are silent: killed/)
})
