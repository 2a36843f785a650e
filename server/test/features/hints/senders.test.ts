/** Messages of the published forms, proofs that hold, and hostile bodies. */
import { createHmac } from 'node:crypto'
import type { HintSender } from '@claimcheck/core/plugin'
import codehost from '@claimcheck/plugin-codehost'
import container from '@claimcheck/plugin-container'
import { concerns, type Headers, hintsIn, provenSender } from '@claimcheck/server/features/hints/senders'
import t from 'tap'
import { MESSAGES } from './messages.ts'

const SECRET = "It's a Secret to Everybody"
const logger = { debug() {}, info() {}, warn() {}, error() {} }

const types = (await Promise.all([codehost, container].map((plugin) => plugin.setup({ logger }, {} as never)))).flatMap(
  ({ connections = [] }) => connections,
)
const sendersOf = (provider: string): readonly HintSender[] => types.find((type) => type.provider === provider)!.hints!

function prove({ proof }: HintSender, body: Buffer, secret = SECRET): Headers {
  const mac = createHmac('sha256', secret).update(body).digest('hex')
  if (proof.by === 'hmac') return { [proof.header]: proof.header.includes('hub') ? `sha256=${mac}` : mac }
  return { [proof.header]: proof.header === 'authorization' ? `Bearer ${secret}` : secret }
}

for (const { provider, title, what, message, targets, params = {}, isSkipped = false } of MESSAGES) {
  t.test(`${title}: ${what}`, async (t) => {
    const senders = sendersOf(provider)
    const sender = senders.find((one) => one.title === title)!
    const body = Buffer.from(JSON.stringify(message))
    t.equal(provenSender(senders, SECRET, prove(sender, body), body), sender)
    t.equal(provenSender(senders, SECRET, prove(sender, body, 'another'), body), undefined, 'another secret')
    const changed = Buffer.concat([body, Buffer.from(' ')])
    if (sender.proof.by === 'hmac')
      t.equal(provenSender(senders, SECRET, prove(sender, body), changed), undefined, 'another body')
    const hints = hintsIn(sender, body)
    if (isSkipped) return t.strictSame(hints, [])
    t.strictSame([...new Set(hints.flatMap((hint) => hint.targets))], targets)
    const told = hints.flatMap((hint) => [...hint.params].map(([name, values]) => [name, [...values]]))
    t.strictSame(Object.fromEntries(told), params)
  })
}

t.test("GitHub's own example of a signature holds", async (t) => {
  const body = Buffer.from('Hello, World!')
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  const [github] = sendersOf('github')
  t.equal(provenSender([github!], SECRET, { 'x-hub-signature-256': signature }, body), github)
  for (const wrong of ['', 'sha256=', `${signature}0`, signature.toUpperCase(), SECRET])
    t.equal(provenSender([github!], SECRET, { 'x-hub-signature-256': wrong }, body), undefined, wrong)
  t.equal(provenSender([github!], SECRET, { 'x-hub-signature-256': [signature] }, body), undefined, 'twice')
})

t.test('a message that says what changed concerns the claims that name it', async (t) => {
  const [github] = sendersOf('github')
  const read = (message: object) => hintsIn(github!, Buffer.from(JSON.stringify(message)))[0]!
  const repository = { full_name: 'Acme/API' }
  const push = read({ ref: 'refs/heads/main', repository })
  t.ok(concerns(push, { sha: 'a', branch: 'main' }))
  t.ok(concerns(push, {}))
  const ended = read({ check_run: { head_sha: 'ABC', status: 'completed' }, repository })
  t.ok(concerns(ended, { sha: 'abc' }))
  t.notOk(concerns(ended, { sha: 'abd' }))
  t.notOk(concerns(ended, { number: 1 }))
  const merged = read({ pull_request: { number: 7 }, repository })
  t.ok(concerns(merged, { number: 7 }))
  t.notOk(concerns(merged, { number: 70 }))
  t.notOk(concerns(merged, {}))
})

t.test('bodies of other forms hint at nothing', async (t) => {
  const [, distribution] = sendersOf('oci')
  const [github] = sendersOf('github')
  const bodies = [
    '',
    '{',
    'null',
    '[]',
    '1',
    '{"repository":[]}',
    '{"repository":{"full_name":[]}}',
    '{"repository":{}}',
  ]
  const odd = ['\\u0000', '\\ud800', '\\u202e'].map((one) => `{"repository":{"full_name":"a/${one}"}}`)
  for (const text of [...bodies, ...odd, `{"repository":{"full_name":"${'a'.repeat(2000)}"}}`])
    t.strictSame(hintsIn(github!, Buffer.from(text)), [], text.slice(0, 40))
  for (const text of ['{"events":{}}', '{"events":[1,null,{}]}', '[]'])
    t.strictSame(hintsIn(distribution!, Buffer.from(text)), [], text)
  const inherited = '{"constructor":{"name":"x"},"repository":{"full_name":"a/b"}}'
  t.strictSame(hintsIn({ ...github!, targets: ['{toString.name}'] }, Buffer.from(inherited)), [], 'own members alone')
  const many = { events: Array.from({ length: 5000 }, () => ({ request: { host: 'h' }, target: { repository: 'r' } })) }
  t.equal(hintsIn(distribution!, Buffer.from(JSON.stringify(many))).length, 100)
})
