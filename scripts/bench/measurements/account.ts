/**
 * Measures what one account that asks for everything at once costs another tenant: how much the thread that answers works while a claim of the
 * tenant waits, which is what a quiet machine takes for it. The account has several workspaces, keys and sessions. The limits are those
 * that ship.
 */
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import { connect } from '../../../test/support/connect.ts'
import type { Host } from '../../../test/support/host.ts'
import { emailOf, PASSWORD, Visitor } from '../../../test/support/visitor.ts'
import { claimsOf, withHost } from '../claims.ts'
import type { Figure } from '../figure.ts'
import { load } from '../load.ts'
import { claimText, cookiesOf, PLUGINS, withDestination } from '../samples.ts'
import { type Attack, compareWaits } from '../waits.ts'

const WORKSPACES = 4
const KEYS = 5
const SESSIONS = 4
/** Requests under way at a time, of each kind. */
const AT_ONCE = 8
const WARM_UP_MS = 500
/** The tenant stays within its own limits. */
const EVERY_MS = 150
const JSON_TYPE = 'application/json'

/** The possessions of the account. */
interface Hostile {
  readonly url: string
  readonly keys: readonly string[]
  readonly sessions: readonly Visitor[]
  readonly workspaces: readonly { readonly id: string; readonly connectionId: string }[]
}

type Request = readonly [path: string, init: RequestInit]
type Kind = (hostile: Hostile, count: number) => Request

const turn = <T>(all: readonly T[], count: number): T => all[count % all.length]!

function form(hostile: Hostile, count: number, path: string, fields: Readonly<Record<string, string>>): Request {
  const visitor = turn(hostile.sessions, count)
  const headers = { origin: hostile.url, ...cookiesOf(visitor) }
  return [path, { method: 'POST', headers, body: new URLSearchParams({ _csrf: visitor.csrf!, ...fields }) }]
}

const KINDS: Readonly<Record<string, Kind>> = {
  claims: ({ keys }, count) => {
    const headers = { authorization: `Bearer ${turn(keys, count)}`, 'content-type': JSON_TYPE }
    return ['/v1/claims', { method: 'POST', headers, body: claimText() }]
  },
  lists: ({ keys }, count) => ['/v1/claims?limit=200', { headers: { authorization: `Bearer ${turn(keys, count)}` } }],
  pages: (hostile, count) => [
    `/console/w/${turn(hostile.workspaces, count).id}/claims`,
    { headers: cookiesOf(turn(hostile.sessions, count)) },
  ],
  tests: (hostile, count) => {
    const { id, connectionId } = turn(hostile.workspaces, count)
    return form(hostile, count, `/console/w/${id}/connections/${connectionId}/test`, {})
  },
  forms: (hostile, count) =>
    form(hostile, count, `/console/w/${turn(hostile.workspaces, count).id}/developers/keys`, { name: '' }),
  exports: (hostile, count) => {
    const path = `/console/w/${turn(hostile.workspaces, count).id}/claims/export`
    return form(hostile, count, path, { format: 'csv' })
  },
}

export function measureAccount(): Promise<Figure[]> {
  return withDestination((address) =>
    withHost<Figure[], Awaited<ReturnType<typeof prepare>>>(
      { plugins: PLUGINS, env: { ALLOW_PRIVATE: address }, limits: {}, file: { quotas: undefined } },
      async ({ served, target }, prepared) => {
        const hostile = await enter(served.url, prepared)
        await load({ ...claimsOf(target, 'test.outcome.reach'), connections: 4, durationMs: WARM_UP_MS })
        const begin = () => beginAttack(hostile)
        return compareWaits({
          served,
          target,
          everyMs: EVERY_MS,
          attacker: 'an account that asks for everything',
          begin,
        })
      },
      (claimcheck) => prepare(claimcheck, `http://${address}`),
    ),
  )
}

/** Makes one account with its workspaces, and a connection and keys in each. */
async function prepare({ accounts, connections, keys, members }: Claimcheck, base_url: string) {
  const newcomer = { name: 'hostile', email: emailOf('hostile'), proof: { password: PASSWORD } }
  const { user } = await accounts.setUp((await accounts.setupToken())!, newcomer, 'hostile')
  const ids: string[] = []
  while (ids.length < WORKSPACES) ids.push((await members.createWorkspace(user.id, `hostile ${ids.length}`)).id)
  const workspaces = []
  const made: string[] = []
  for (const id of ids) {
    const { id: connectionId } = await connect({ connections }, id, 'pages', { base_url, name: 'pages' })
    workspaces.push({ id, connectionId })
    for (let count = 0; count < KEYS; count++) made.push((await keys.create(id, `key ${count}`)).key)
  }
  return { workspaces, keys: made }
}

async function enter(url: string, prepared: Awaited<ReturnType<typeof prepare>>): Promise<Hostile> {
  const sessions: Visitor[] = []
  while (sessions.length < SESSIONS) {
    const visitor = new Visitor({ url } as Host, emailOf('hostile'))
    await visitor.post('/console/sign-in', { email: visitor.email, password: PASSWORD })
    await visitor.get(`/console/w/${prepared.workspaces[0]!.id}/developers`)
    if (visitor.csrf === undefined) throw new Error('the account of the benchmark could not sign in')
    sessions.push(visitor)
  }
  return { url, sessions, ...prepared }
}

/** Everything as fast as it is answered. */
function beginAttack(hostile: Hostile): Attack {
  const answers: Record<string, number> = {}
  const end = new AbortController()

  async function askOn([name, kind]: readonly [string, Kind], first: number): Promise<void> {
    for (let count = first; !end.signal.aborted; count += AT_ONCE) {
      const [path, init] = kind(hostile, count)
      const answer = await fetch(hostile.url + path, { ...init, redirect: 'manual', signal: end.signal })
      await answer.arrayBuffer()
      const key = `${name}, ${answer.status}`
      answers[key] = (answers[key] ?? 0) + 1
    }
  }

  const running = Object.entries(KINDS).flatMap((kind) =>
    Array.from({ length: AT_ONCE }, (_, first) => askOn(kind, first).catch(unlessAborted)),
  )
  return {
    async stop() {
      end.abort()
      await Promise.all(running)
      return answers
    },
  }
}

function unlessAborted(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error
}
