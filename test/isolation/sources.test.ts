// Test run: end-to-end, slow
/**
 * A source is where something was read: what a plugin says without an answer of the place that it names is no evidence, and only a plugin
 * that the operator knows speaks for a listed one. Through the whole service, for plugins in its process and in one of their own.
 */
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import t, { type Test } from 'tap'
import { installedPlugin } from '../../server/test/plugins/isolation/world.ts'
import { runClaimcheck } from '../support/command.ts'
import { Installation } from '../support/installation.ts'
import { serving } from '../support/serving.ts'

const skip = (await isolationProblem()) ?? false
const ACTION = 'test.source.read'
const PACKAGE = 'acme-plugin'

async function start(t: Test, { trusted = false, named = false, port = true } = {}) {
  const requests: string[] = []
  const url = await serving(t, ({ url, method, headers }, response) => {
    requests.push(`${method} ${url}`)
    const answer = () => {
      const status = url === '/missing' ? 404 : 200
      response.writeHead(headers['if-none-match'] ? 304 : status, { etag: '"1"' })
      response.end()
    }
    if (url === '/slow') setTimeout(answer, 300)
    else answer()
  })
  const { use } = installedPlugin(t, 'build/test/plugins/unread.js')
  const installation = await Installation.during(t, {
    plugins: [{ use, trusted, with: { base_url: port ? url : 'http://127.0.0.1:1' } }],
    env: { ALLOW_PRIVATE: '127.0.0.1' },
    file: { sources: { place: [named ? { url, plugins: [`${PACKAGE}@1.2.3`] } : url] } },
  })
  const client = await installation.client('acme')
  const submit = async (way: string, more: { see?: string; action?: string } = {}) => {
    const { see, action = ACTION } = more
    const params = see === undefined ? { way } : { way, see }
    const { body } = await client.submit({ action, target: 'there', params })
    const detail = await installation.claimcheck.claims.detail(client.workspaceId, body.claim_id)
    return { body, checks: detail!.history as readonly { failure?: { code: string }; answers?: number }[] }
  }
  const receipt = async (id: string) => (await installation.request(`/v1/receipts/${id}`)).body.body
  const evidence = async (id: string) => (await installation.request(`/v1/receipts/${id}/evidence`)).body
  const asked = () => requests.filter((one) => !one.endsWith(' /'))
  return { installation, client, url, submit, receipt, evidence, asked }
}

const NOTHING = ['asks nothing', 'asks only the name', 'asks another origin', 'shares what asks nothing']
const HONEST = ['asks', 'asks and ignores', 'asks by HEAD', 'asks for a digest', 'is not modified', 'shares']

for (const trusted of [true, false]) {
  const where = trusted ? 'in the service' : 'in a process of its own'
  t.test(`what a plugin says without an answer is no evidence (${where})`, { skip: !trusted && skip }, async (t) => {
    const { submit, receipt, evidence, asked } = await start(t, { trusted })
    for (const way of NOTHING) {
      for (const see of ['present', 'absent']) {
        const { body, checks } = await submit(way, { see })
        t.match(checks, [{ failure: { code: 'verifier_error' } }], `${way}, ${see}`)
        t.notMatch(body, { verdict: /verified|failed|mismatch|late/ }, way)
      }
    }
    t.strictSame(asked(), [])
    for (const way of HONEST) {
      const { body, checks } = await submit(way)
      t.match(body, { state: 'decided', verdict: 'verified' }, way)
      t.match(checks, [{ answers: 1 }], way)
      t.match(await receipt(body.receipt_id), { observation: { source: { provider: 'place', listed: false } } }, way)
      t.notMatch(await evidence(body.receipt_id), { checks: [{ answers: 0 }] })
    }
    t.equal(asked().length, HONEST.length)
  })

  t.test(
    `an answer that a plugin kept is not one of the next check (${where})`,
    { skip: !trusted && skip },
    async (t) => {
      const { submit } = await start(t, { trusted })
      t.match((await submit('asks once')).body, { verdict: 'verified' })
      t.match((await submit('asks once')).checks, [{ failure: { code: 'verifier_error' } }])
    },
  )

  t.test(
    `checks that join a read have its answer, and others have not (${where})`,
    { skip: !trusted && skip },
    async (t) => {
      const { submit, asked } = await start(t, { trusted })
      const joined = await Promise.all([1, 2, 3, 4].map(() => submit('shares')))
      for (const { body, checks } of joined) {
        t.match(body, { verdict: 'verified' })
        t.match(checks, [{ answers: 1 }])
      }
      t.ok(asked().length < 4, `${asked().length} requests`)
      const waiting = await Promise.all([submit('waits for another check'), submit('waits for another check')])
      const told = waiting.map(({ checks: [check] }) => check?.failure?.code ?? 'read').toSorted()
      t.strictSame(told, ['read', 'verifier_error'], 'it did not join by the host')
    },
  )
}

t.test('a reader who asks for a listed source, or for the plugin, is told', { skip }, async (t) => {
  const [stranger, known] = await Promise.all([start(t), start(t, { named: true })])
  const codeOf = async ({ submit, installation, url }: typeof stranger, ...options: string[]) => {
    const { body } = await submit('asks')
    const receipt = `${installation.url}/v1/receipts/${body.receipt_id}`
    return (await runClaimcheck(t.testdir(), ['verify', receipt, '--expect-source', url, ...options])).code
  }
  t.equal(await codeOf(stranger), 0)
  t.equal(await codeOf(stranger, '--listed'), 1)
  t.equal(await codeOf(known, '--listed'), 0)
  t.equal(await codeOf(known, '--expect-verifier', `${PACKAGE}@1.2.3`), 0)
  t.equal(await codeOf(known, '--expect-verifier', '@claimcheck/plugin-codehost'), 1)
})

t.test('a plugin that the operator names for a source speaks for it', { skip }, async (t) => {
  const { submit, receipt, url, installation } = await start(t, { named: true })
  const { body } = await submit('asks')
  t.match(await receipt(body.receipt_id), {
    observation: { source: { provider: 'place', listed: true, base_url: url } },
  })
  const { body: published } = await installation.request('/v1/profiles')
  t.equal(published.profiles[0].plugin_says, undefined)
})

t.test('the words of a stranger stand apart from the verdict', { skip }, async (t) => {
  const { submit, installation } = await start(t)
  const { body } = await submit('asks')
  const { body: published } = await installation.request('/v1/profiles')
  t.equal(published.profiles[0].plugin_says, true)
  const text = await (await fetch(`${installation.url}/r/${body.receipt_id}`)).text()
  t.match(text, /<h1>\s*There as claimed, in time/)
  t.match(text, /The plugin says, in words of its own[\s\S]*there was there in time\./)
})
