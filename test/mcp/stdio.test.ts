// Test run: end-to-end
/** `claimcheck mcp`: the same tools over standard input and output, at a service that is asked over its API. */

import { clientBackend } from '@claimcheck/cli/mcp/client-backend'
import { TOOLS } from '@claimcheck/cli/mcp/tools'
import { readBundle } from '@claimcheck/core/words/document'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t from 'tap'
import { CLAIMCHECK, runClaimcheck } from '../support/command.ts'
import { forgedBundle } from '../support/forged-bundle.ts'
import { sharedInstallation } from '../support/installation.ts'
import { call, claimOf, mcpClient } from '../support/mcp.ts'

const shared = sharedInstallation()

t.test('an agent on this computer has the same tools, and checks receipts itself', async (t) => {
  const installation = await shared()
  const { key } = await installation.client('stdio')
  const agent = new Client({ name: 'test', version: '1' })
  const env = {
    CLAIMCHECK_URL: installation.url,
    CLAIMCHECK_API_KEY: key,
    CLAIMCHECK_AGENT: 'release-bot',
    PATH: process.env.PATH!,
  }
  await agent.connect(new StdioClientTransport({ command: process.execPath, args: [CLAIMCHECK, 'mcp'], env }))
  t.teardown(() => agent.close())
  const remote = await mcpClient(t, installation.host, key, 'legacy')
  t.same(await agent.listTools(), await remote.listTools())
  t.same(await agent.listResourceTemplates(), await remote.listResourceTemplates())

  const rules = await call(agent, 'list_actions', { action: 'test.outcome.reach' })
  t.match(rules.structuredContent.untrusted.params, { required: ['see'] })
  const claim = claimOf()
  const { structuredContent: submitted } = await call(agent, 'submit_claim', claim)
  t.match(submitted, { verdict: 'verified', created: true })
  t.match((await call(remote, 'submit_claim', claim)).structuredContent, { created: false })
  const { receipt_id } = submitted
  const verified = await call(agent, 'verify_receipt', { receipt_id })
  t.match(verified.structuredContent, { valid: true, evidence: 'follows', tree_head: 'holds' })
  t.match(verified.content[0]?.text, /checked on this computer/)
  t.match((await call(agent, 'list_claims')).structuredContent.claims, [{ receipt_id }])
  t.match(await call(agent, 'get_claim', { claim_id: 'clm_none' }), {
    isError: true,
    content: [{ text: /list_claims/ }],
  })
  const short = { action: 'test.outcome.reach', target: 'x', params: { see: 'present' } }
  t.match((await call(agent, 'submit_claim', short)).structuredContent, { untrusted: { agent_id: 'release-bot' } })
  const half = await call(agent, 'submit_claim', { ...short, target: '\ud800' })
  t.match(half, { isError: true, content: [{ text: /^The input is not valid/ }, { text: /surrogate/ }] })
  t.same(await agent.listPrompts(), await remote.listPrompts())
  const ref = { type: 'ref/prompt', name: 'claim' } as const
  const { completion } = await agent.complete({ ref, argument: { name: 'action', value: 'test' } })
  t.strictSame(completion.values, ['test.outcome.reach'])
  const wrong = await call(agent, 'submit_claim', claimOf({ params: {} }))
  t.match(wrong, { isError: true, content: [{ text: /^The input is not valid/ }, { text: /see: / }] })
  const { contents } = await agent.readResource({ uri: 'claimcheck://profiles/test.outcome.reach' })
  t.match(JSON.parse((contents[0] as { text: string }).text), { names: ['test.outcome.reach'] })
})

t.test('a receipt that a stranger signed in the name of the issuer is said to be not valid', async (t) => {
  const installation = await shared()
  const { key } = await installation.client('forged')
  const agent = await mcpClient(t, installation.host, key)
  const { receipt_id } = (await call(agent, 'submit_claim', claimOf())).structuredContent
  const real = await (await fetch(`${installation.url}/r/${receipt_id}.json`)).text()
  const { receipt } = await forgedBundle(readBundle(real)!)
  const backend = clientBackend({
    url: installation.url,
    key,
    fetch: async (input, init) =>
      String(input).endsWith(`/v1/receipts/${receipt_id}`) ? new Response(receipt) : fetch(input, init),
  })
  const tool = TOOLS.find(({ name }) => name === 'verify_receipt')!
  const told = await tool.run(backend, { receipt_id } as never, { signal: AbortSignal.timeout(30_000) })
  t.match(told.words, /^The receipt is NOT valid: the key document has no such key/)
  t.match(told.facts, { valid: false, verdict: null, vouched_by: 'issuer' })
})

t.test('without an address or a key it says what to do', async (t) => {
  const folder = t.testdir()
  t.match(await runClaimcheck(folder, ['mcp']), { code: 1, stdout: '', stderr: /claimcheck login/ })
  const keyless = await runClaimcheck(folder, ['mcp', '--url', 'http://127.0.0.1:1'])
  t.match(keyless, { code: 1, stdout: '', stderr: /CLAIMCHECK_API_KEY/ })
})
