/** Each 422 of a submission names the field that is wrong, wherever it is. */
import t from 'tap'
import { Installation } from '../support/installation.ts'

const SHIPPED = ['codehost', 'http', 'registry'].map((name) => ({ use: `@claimcheck/plugin-${name}`, trusted: true }))
const SHA = '0123456789abcdef0123456789abcdef01234567'
const PUBLISH = { action: 'registry.package.publish', target: 'npm:left-pad', params: { version: '1.0.0' } }
const PUSH = { action: 'codehost.commit.push', target: 'octo-org/hello', params: { sha: SHA, branch: 'main' } }
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()

/** What is wrong, by the place that the answer names. */
const WRONG: readonly (readonly [claim: object, loc: readonly (string | number)[]])[] = [
  [{ ...PUBLISH, params: { version: 'the newest one' } }, ['params', 'version']],
  [{ ...PUBLISH, target: 'pypi:requests', params: { version: 'the newest one' } }, ['params', 'version']],
  [
    { ...PUBLISH, target: 'cargo:serde', params: { version: '1.0.0', integrity: `sha512-${'A'.repeat(86)}==` } },
    ['params', 'integrity'],
  ],
  [{ ...PUBLISH, params: {} }, ['params', 'version']],
  [{ ...PUBLISH, params: { version: '1.0.0', verison: '1' } }, ['params', 'verison']],
  [{ ...PUBLISH, target: 'nowhere' }, ['target']],
  [{ ...PUSH, params: { ...PUSH.params, sha: 'abc' } }, ['params', 'sha']],
  [{ ...PUSH, params: { sha: SHA } }, ['params', 'branch']],
  [{ ...PUSH, params: { ...PUSH.params, branch: 7 } }, ['params', 'branch']],
  [
    { action: 'codehost.checks.pass', target: PUSH.target, params: { sha: SHA, checks: [{ name: 'a' }] } },
    ['params', 'checks', 0, 'by'],
  ],
  [{ action: 'http.url.status', target: 'https://example.com/', params: { status: 'ok' } }, ['params', 'status']],
  [{ ...PUSH, agent_id: 'a\u202eb' }, ['agent_id']],
  [{ ...PUSH, claimed_at: inMs(3_600_000) }, ['claimed_at']],
  [{ ...PUSH, claimed_at: inMs(-3_600_000), claimed_ago_ms: 1000 }, ['claimed_at']],
  [{ ...PUSH, deadline_at: inMs(1000) }, ['deadline_at']],
  [{ ...PUSH, claimed_at: 'yesterday' }, ['claimed_at']],
]

t.test('what is wrong in a claim is named by its path', async (t) => {
  const installation = await Installation.during(t, { plugins: SHIPPED })
  const client = await installation.client('acme')
  for (const [claim, loc] of WRONG) {
    const { status, body } = await client.submit(claim)
    t.equal(status, 422, JSON.stringify(claim))
    t.strictSame(body.detail?.[0]?.loc, ['body', ...loc], JSON.stringify(claim))
  }
})
