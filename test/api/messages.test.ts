/** What a refused value is told: what to write instead, and never a regular expression. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TSchema } from '@claimcheck/core/plugin'
import { validator } from '@claimcheck/server/base/validation'
import t from 'tap'
import { sharedInstallation } from '../support/installation.ts'

const { resolve } = createRequire(join(process.cwd(), 'package.json'))
const SHIPPED = ['codehost', 'http', 'registry', 'example'].map((name) => ({
  use: resolve(`@claimcheck/plugin-${name}`),
}))
const shared = sharedInstallation({ plugins: SHIPPED })

/** One of them is refused by each pattern. */
const WRONG = ['\u0001', '*', ':', '/..', 'a..b']

interface Found {
  readonly place: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly patterns: readonly string[]
}

/** Every schema within `value` that has a pattern, or that excludes one. */
function withPatterns(place: string, value: unknown): Found[] {
  if (typeof value !== 'object' || value === null) return []
  const schema = value as Record<string, unknown>
  const { pattern, not } = schema as { pattern?: unknown; not?: { pattern?: unknown } }
  const patterns = [pattern, not?.pattern].filter((one) => typeof one === 'string')
  const inside = Object.entries(schema).flatMap(([name, one]) =>
    name === 'not' ? [] : withPatterns(`${place}.${name}`, one),
  )
  return patterns.length > 0 ? [{ place, schema, patterns }, ...inside] : inside
}

function messagesFor({ schema }: Found): string[] {
  const only = { ...schema, type: 'string' } as unknown as TSchema
  return WRONG.flatMap((wrong) => validator(only)(wrong, ['body']))
    .filter(({ type }) => type === 'string_pattern_mismatch')
    .map(({ msg }) => msg)
}

t.test('no message repeats a pattern, whatever is refused', async (t) => {
  const { claimcheck, host } = await shared()
  const { registry } = claimcheck
  const inputs = [
    ...registry
      .allProfiles()
      .flatMap(({ action, version, target, params }) => withPatterns(`${action} ${version}`, { target, params })),
    ...registry.connectionTypes().flatMap(({ provider, options }) => withPatterns(provider, options)),
  ]
  const facts = registry
    .allProfiles()
    .flatMap(({ action, version, facts }) => withPatterns(`${action} ${version}`, facts))
  const { body: api } = await host.request('/openapi.json')
  t.ok(inputs.length > 40, `${inputs.length} patterns of what people enter`)
  for (const found of [...inputs, ...facts, ...withPatterns('api', api)]) {
    const messages = messagesFor(found)
    t.not(messages.length, 0, `${found.place} refuses something`)
    for (const msg of messages) {
      for (const pattern of found.patterns) t.notOk(msg.includes(pattern), `${found.place}: ${msg}`)
      t.notMatch(msg, /pattern|\[[^\]]*-[^\]]*\]|\(\?/, found.place)
    }
  }
  for (const found of inputs) {
    t.match(messagesFor(found)[0], /^(Enter|Write) .*(for example|like `|`)/, `${found.place} says what to write`)
  }
})

t.test('an answer of the API says what to write, with an example', async (t) => {
  const client = await (await shared()).client('messages')
  const claim = { action: 'codehost.commit.push', target: 'acme', params: { sha: 'abc', branch: 'refs/heads/main' } }
  const { status, body } = await client.submit(claim)
  t.equal(status, 422)
  t.match(body.detail, [
    {
      loc: ['body', 'target'],
      type: 'string_pattern_mismatch',
      msg: 'Enter owner/repo, without .git at its end, for example `octo-org/hello-world`',
    },
    {
      loc: ['body', 'params', 'sha'],
      type: 'string_pattern_mismatch',
      msg: 'Enter the full id of the commit, 40 or 64 hexadecimal characters, for example `0123456789abcdef0123456789abcdef01234567`',
    },
    {
      loc: ['body', 'params', 'branch'],
      type: 'string_pattern_mismatch',
      msg: 'Write the name of the branch alone, `main` instead of `refs/heads/main`',
    },
  ])
})
