// Test run: end-to-end, slow
/** Hosts are killed before each kind of statement that webhooks make: receivers get every event at least once. */
import { setTimeout } from 'node:timers/promises'
import type { SubmittedClaim } from '@claimcheck/core/api'
import t from 'tap'
import { presentClaim } from '../crash/claims.ts'
import { Fleet } from '../crash/fleet.ts'
import type { HostProcess } from '../crash/host-process.ts'
import { createDatabase, DIALECTS } from '../support/database.ts'
import { LONG } from '../support/extent.ts'
import { Receiver } from '../support/receiver.ts'

const CLAIMS_A_STRIKE = 15
/** Longer than a lease. */
const LONGEST_MS = 60_000

/** The parts of statements before which a host dies: new deliveries, their lease, and after sending what became of them. */
const STRIKES = [
  'INSERT INTO webhook_deliveries',
  'UPDATE webhook_deliveries SET leased_until',
  'UPDATE webhook_deliveries SET id =',
  'UPDATE webhook_targets SET last_delivered_at',
] as const

for (const dialect of DIALECTS) {
  t.test(
    `on ${dialect}, events arrive at least once, and at each webhook in their order, whatever kills a host`,
    LONG,
    async (t) => {
      const receiver = await Receiver.during(t)
      const hosts = dialect === 'postgres' ? 2 : 1
      const fleet = await Fleet.create({
        database: await createDatabase(dialect),
        hosts,
        file: { webhooks: { allow_private: ['127.0.0.1'] } },
      })
      t.teardown(() => fleet.remove())
      await fleet.startAll()
      await fleet.createWorkspace()
      for (const path of ['/ok/a', '/ok/b']) {
        const added = await fleet.command('webhook', 'add', receiver.url + path, '--workspace', 'fleet', '--json')
        t.match(JSON.parse(added.stdout), { id: /^wht_/, secret: /^whsec_/ })
      }
      const claims = new Set<string>()
      let restarting: Promise<void> | undefined
      const restart = () => {
        restarting ??= fleet.startAll().finally(() => {
          restarting = undefined
        })
        return restarting
      }
      const submit = async (host: HostProcess, id: string) => {
        for (;;) {
          const answer = await fleet.submit(host, presentClaim(id).claim)
          if (answer?.status === 202) return void claims.add((JSON.parse(answer.text) as SubmittedClaim).claim_id)
          if (!host.url) await restart()
          await setTimeout(50)
        }
      }
      for (const [round, before] of STRIKES.entries()) {
        const host = fleet.hosts[round % hosts]!
        await restart()
        const died = Promise.race([host.ended().then(() => true), setTimeout(20_000, false)])
        await host.strike({ signal: 'SIGKILL', before })
        const ids = Array.from({ length: CLAIMS_A_STRIKE }, (_, index) => `claim-${round}-${index}`)
        await Promise.all(ids.map((id, index) => submit(fleet.hosts[index % hosts]!, id)))
        t.ok(await died, `it died before ${before}`)
      }
      await fleet.startAll()
      const got = (path: string) => receiver.at(path).map(({ body }) => JSON.parse(body).data.claim_id as string)
      // A delivery that a host had sent when it died is sent again once its lease ends.
      const isStored = async () => {
        const answer = await fleet.request(fleet.hosts[0]!, '/v1/webhooks/deliveries?state=waiting')
        return answer?.status === 200 && JSON.parse(answer.text).deliveries.length === 0
      }
      const isWhole = () => ['/ok/a', '/ok/b'].every((path) => new Set(got(path)).size === claims.size)
      for (const end = Date.now() + LONGEST_MS; Date.now() < end; await setTimeout(100)) {
        if (isWhole() && (await isStored())) break
      }
      let doubled = 0
      for (const path of ['/ok/a', '/ok/b']) {
        t.strictSame([...new Set(got(path))].toSorted(), [...claims].toSorted(), 'none is lost')
        const ids = receiver.at(path).map(({ headers }) => headers['webhook-id'])
        t.equal(new Set(ids).size, claims.size, 'what comes twice has the same id')
        doubled += ids.length - claims.size
      }
      t.comment(`${2 * claims.size} deliveries, ${doubled} came twice`)
      t.ok(doubled > 0, 'a host had sent some of them when it died')
      t.strictSame(await fleet.doctor(), [])
    },
  )
}
