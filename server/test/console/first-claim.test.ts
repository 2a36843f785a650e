import { execFileSync } from 'node:child_process'
import { Type } from '@claimcheck/core/plugin'
import { firstClaimCommand } from '@claimcheck/server/console/first-claim'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)

/** The claim that a shell would send. */
function claimOf(command: string) {
  const text = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`], { encoding: 'utf8' })
  return JSON.parse(text.split('\0').at(-2)!)
}

function firstClaim(profile?: Parameters<typeof firstClaimCommand>[0]['profile']) {
  return claimOf(firstClaimCommand({ origin: 'https://claims.example', key: 'svc_sk_abcd', profile, now: NOON }))
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
  t.strictSame(firstClaim({ action: 'test.thing.do', target: Type.String(), params }), {
    client_claim_id: 'first-claim-abcd',
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
    claimed_at: '2026-09-25T12:00:00.000Z',
  })
})

t.test('where no plugin offers an action, an unknown one is claimed', async (t) => {
  t.match(firstClaim(), { action: /^[a-z]+\.[a-z]+\.[a-z]+$/, params: {} })
})
