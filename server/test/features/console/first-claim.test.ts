import { execFileSync } from 'node:child_process'
import { Type } from '@claimcheck/core/plugin'
import { firstClaimCommand, firstProfile } from '@claimcheck/server/features/console/first-claim'
import t from 'tap'

/** The claim that a shell would send. */
function claimOf(command: string) {
  const text = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`], { encoding: 'utf8' })
  return JSON.parse(text.split('\0').at(-2)!)
}

function firstClaim(profile?: Parameters<typeof firstClaimCommand>[0]['profile']) {
  return claimOf(firstClaimCommand({ origin: 'https://claims.example', key: 'svc_sk_abcd', profile }))
}

t.test("a first claim takes the action's own examples, and otherwise something of the right kind", async (t) => {
  const params = Type.Object({
    sha: Type.String({ examples: ["it's $HOME `x` \\ \n"] }),
    kind: Type.Enum(['a', 'b']),
    level: Type.Union([Type.Literal(2), Type.Literal(3)]),
    count: Type.Integer(),
    sure: Type.Boolean(),
    list: Type.Array(Type.String()),
    name: Type.String(),
    any: Type.Unknown(),
    inner: Type.Object({ deep: Type.Number({ default: 7 }) }),
    left_out: Type.Optional(Type.String({ examples: ['x'] })),
  })
  const { client_claim_id, claimed_at, ...rest } = firstClaim({
    action: 'test.thing.do',
    target: Type.String(),
    params,
  })
  t.match(client_claim_id, /^first-claim-\d{10}$/, 'another one a second later')
  t.match(claimed_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  t.ok(Math.abs(Date.parse(claimed_at) - Date.now()) < 60_000, 'when it is run')
  t.strictSame(rest, {
    agent_id: 'my-agent',
    action: 'test.thing.do',
    target: '<target>',
    params: {
      sha: "it's $HOME `x` \\ \n",
      kind: 'a',
      level: 2,
      count: 1,
      sure: true,
      list: [],
      name: '<name>',
      any: '<any>',
      inner: { deep: 7 },
    },
  })
})

t.test('where no plugin offers an action, an unknown one is claimed', async (t) => {
  t.match(firstClaim(), { action: /^[a-z]+\.[a-z]+\.[a-z]+$/, params: {} })
})

const profile = (action: string, required: readonly string[]) =>
  ({ action, params: { required } }) as unknown as ReturnType<typeof firstProfile> & object
const registry = {
  profiles: () => [
    profile('host.commit.push', ['sha', 'branch']),
    profile('http.url.status', []),
    profile('a.b.c', []),
  ],
  actionsFor: (provider: string) => (provider === 'git' ? ['host.commit.push'] : []),
  publicActions: () => ['host.commit.push', 'http.url.status'],
}

t.test('the first claim is about what the workspace can read, and as easy to make as can be', async (t) => {
  t.equal(firstProfile(registry, [])?.action, 'http.url.status', 'no params')
  t.equal(firstProfile(registry, ['mail', 'git'])?.action, 'host.commit.push', 'read through a connection')
  t.equal(firstProfile(registry, ['mail'])?.action, 'http.url.status', 'a connection that reads nothing')
  t.equal(firstProfile({ ...registry, publicActions: () => [] }, [])?.action, 'host.commit.push', 'nothing can be read')
  t.equal(firstProfile({ ...registry, publicActions: () => [], profiles: () => [] }, []), undefined)
})

t.test('the shell puts the key into the command', async (t) => {
  const command = firstClaimCommand({ origin: 'https://claims.example', key: '$KEY', profile: undefined })
  const printed = execFileSync('sh', ['-c', `KEY=svc_sk_x; curl() { printf '%s\\n' "$@"; }\n${command}`], {
    encoding: 'utf8',
  })
  t.match(printed, 'Authorization: Bearer svc_sk_x\n')
})
