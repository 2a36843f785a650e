// Test run: slow
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import t from 'tap'
import { READ_AT_PROBE } from '../../server/test/plugins/isolation/lists.ts'
import { installedPlugin, TOKEN } from '../../server/test/plugins/isolation/world.ts'
import { connect } from '../support/connect.ts'
import { Installation } from '../support/installation.ts'
import { serving } from '../support/serving.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const ACTION = 'test.list.have'
const TESTS = 120
const TIMEOUT_MS = 4000
const skip = (await isolationProblem()) ?? false

for (const trusted of [true, false]) {
  const where = trusted ? 'in the service' : 'in a process of its own'
  t.test(
    `${TESTS} tests of connections at once leave another account's claim its place (${where})`,
    { skip: !trusted && skip },
    async (t) => {
      let hanging = 0
      const silent = await serving(t, () => hanging++)
      const list = await serving(t, (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ read: 1, names: ['there'] }))
      })
      const { use } = installedPlugin(t, 'build/server/test/plugins/isolation/lists.js')
      const installation = await Installation.during(t, {
        plugins: [{ use, trusted }],
        env: { ALLOW_PRIVATE: '127.0.0.1' },
        file: { checks: { timeout_ms: TIMEOUT_MS } },
      })
      const victim = await installation.client('victim')
      await connect(installation.claimcheck, victim.workspaceId, 'lists', { base_url: list, token: TOKEN })
      const decidedAfter = async () => {
        const begin = performance.now()
        const { body } = await victim.submit({ action: ACTION, target: 'there', params: {} })
        await victim.decided(body.claim_id)
        return performance.now() - begin
      }
      const alone = await decidedAfter()

      const hostile = await Visitor.first(installation.host, 'hostile')
      const workspaceId = await hostile.workspaceId()
      const path = `/console/w/${workspaceId}/connections`
      const { id } = await connect(installation.claimcheck, workspaceId, 'lists', {
        base_url: silent + READ_AT_PROBE,
        token: TOKEN,
      })
      await hostile.get(path)
      hanging = 0
      const begin = performance.now()
      const answers = Promise.all(Array.from({ length: TESTS }, () => hostile.post(`${path}/${id}/test`)))
      while (hanging < 20 && performance.now() - begin < TIMEOUT_MS) await new Promise((done) => setTimeout(done, 20))
      const flooded = await decidedAfter()
      t.comment(`decided after ${Math.round(alone)} ms alone, ${Math.round(flooded)} ms while ${hanging} tests hang`)
      t.ok(flooded < TIMEOUT_MS / 2, `decided after ${Math.round(flooded)} ms`)
      const refused = (await answers).filter(({ status }) => status === 429)
      t.comment(
        `${refused.length} of ${TESTS} refused, ${hanging} sent, after ${Math.round(performance.now() - begin)} ms`,
      )
      t.ok(refused.length > 0)
      t.match(textOf(refused[0]!.html), /nothing was tried: too many .* Try again in a moment/i)
      t.match(refused[0]!.headers.get('retry-after'), /^\d+$/)
    },
  )
}
