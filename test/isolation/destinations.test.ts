// Test run: end-to-end, every-node
/**
 * Where a plugin says that a claim is read: through the whole service, for plugins in its process and in one of their own.
 * Threat P3 of `security.md`.
 */
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import t, { type Test } from 'tap'
import { installedPlugin, TOKEN } from '../../server/test/plugins/isolation/world.ts'
import { connect } from '../support/connect.ts'
import { Installation } from '../support/installation.ts'
import { serving } from '../support/serving.ts'

const ACTION = 'test.list.have'
const skip = (await isolationProblem()) ?? false

/** A list at this place; the requests that it got. */
async function list(t: Test) {
  const requests: string[] = []
  const url = await serving(t, ({ url, headers }, response) => {
    requests.push(`${url} ${headers.authorization}`)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ read: requests.length, names: ['there'] }))
  })
  return { url, requests }
}

async function start(t: Test, trusted: boolean) {
  const [own, region, undeclared] = [await list(t), await list(t), await list(t)]
  const { use } = installedPlugin(t, 'build/server/test/plugins/isolation/lists.js')
  const installation = await Installation.during(t, {
    plugins: [{ use, trusted, with: { region_url: region.url } }],
    env: { ALLOW_PRIVATE: '127.0.0.1' },
    file: { sources: { lists: [{ url: region.url, plugins: ['acme-plugin'] }] } },
  })
  const client = await installation.client('acme')
  const { claimcheck } = installation
  await connect(claimcheck, client.workspaceId, 'lists', { base_url: own.url, token: TOKEN })
  const submit = (region?: string, target = 'there') =>
    client.submit({ action: ACTION, target, params: region === undefined ? {} : { region } })
  return { installation, client, own, region, undeclared, submit }
}

for (const trusted of [true, false]) {
  const where = trusted ? 'in the service' : 'in a process of its own'
  t.test(
    `a claim is read where its plugin says, if its manifest allows (${where})`,
    { skip: !trusted && skip },
    async (t) => {
      const { installation, client, own, region, undeclared, submit } = await start(t, trusted)
      const { body } = await submit()
      t.match(body, { state: 'decided', verdict: 'verified' })
      const sourceOf = async ({ receipt_id: id }: { receipt_id: string }) =>
        (await installation.request(`/v1/receipts/${id}`)).body.body.observation.source
      t.strictSame(own.requests, [`/list Bearer ${TOKEN}`])
      t.match(await sourceOf(body), { provider: 'lists', listed: false })

      const { body: regional } = await submit(region.url)
      t.match(regional, { state: 'decided', verdict: 'verified' })
      // The clock of a configured destination is asked at the start.
      t.strictSame(
        region.requests.filter((one) => !one.startsWith('/ ')),
        [`/list Bearer ${TOKEN}`],
      )
      t.equal(own.requests.length, 1)
      t.strictSame(await sourceOf(regional), { provider: 'lists', listed: true, base_url: region.url })
      const rows: readonly (readonly [region: string, status: number, detail: RegExp])[] = [
        [undeclared.url, 503, /failed to say where/],
        ['https://{target}.example', 503, /failed to say where/],
        ['https://a.lists.example:8443', 503, /failed to say where/],
        ['text', 503, /failed to say where/],
        ['number', 503, /failed to say where/],
        ['fails', 503, /failed to say where/],
        ['nowhere', 422, /target/],
      ]
      for (const [name, status, detail] of rows) {
        const answer = await submit(name)
        t.equal(answer.status, status, `${name}: ${JSON.stringify(answer.body)}`)
        t.match(JSON.stringify(answer.body), detail)
      }
      t.equal(undeclared.requests.length, 0)
      if (!trusted) {
        const answers = await Promise.all([submit(), submit('ends'), submit(), submit()])
        t.strictSame(
          answers.map(({ status }) => status).toSorted((one, other) => one - other),
          [200, 200, 200, 503].map((status, index) => (index < 3 ? answers[0].status : status)),
          'the claim that ends the process is refused, and those beside it are taken',
        )
        t.equal(answers[1].status, 503)
      }

      const { body: named } = await submit('https://{target}.lists.example', 'there')
      t.equal(named.state, 'queued', 'nobody answers there')
      const detail = await installation.claimcheck.claims.detail(client.workspaceId, named.claim_id)
      t.match(detail!.history, [{ failure: { code: 'unavailable' } }])
    },
  )
}
