/**
 * Shares out what a destination lets us ask in a time, such as GitHub's 60 anonymous requests an hour: by workspace, within it by key, and
 * with a part kept for checks that decide. So one key cannot use it up for all. The destination's own headers tell the allowance, so that
 * what other hosts use of it counts as well.
 */
import { DestinationError, type Instant, mayTake } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'

/** Whose requests they are, and which allowance they use: a connection's, or that of all who read an origin without credentials. */
export interface Spender {
  readonly workspaceId: string
  readonly submittedBy: string
  readonly connectionId: string | null
  readonly origin: string | null
}

export interface Allowances {
  /** Whether a check that only looks may begin: it leaves a part to other workspaces and keys, and to checks that decide. */
  mayBegin(spender: Spender): boolean
  /** A check begins; the result ends it. */
  begin(spender: Spender): () => void
  /** What a check's requests count against. */
  forCheck(spender: Spender, isDeciding: boolean): Spending
}

export interface Spending {
  /** Counts a request that is to be sent. @throws DestinationError `rate_limited` when a check that decides may send none */
  count(): void
  /** Reads what an answer tells of the allowance. */
  heard(headers: Headers): void
}

/** One in so many requests is kept for checks that decide. */
const KEPT = 4
/** Alone, a workspace uses 2/3 of what may be used, a key 4/7. */
const WEIGHTS = { workspace: 2, key: 2 } as const
/** Where everybody's allowance is one and not yet known, a burst could use it up before the first answer tells of it. */
const MOST_BEFORE_FIRST_ANSWER = 4
const MAX_ALLOWANCES = 5000
/** A destination that tells no allowance is asked again this long after what it told. */
const UNTOLD_MS = 10 * 60_000
/** Ends of one window differ by less than this from answer to answer. */
const SAME_WINDOW_MS = 10_000

interface Allowance {
  /** undefined: the answers tell of none. */
  window: { readonly limit: number; remaining: number; readonly resetAt: Instant } | undefined
  /** When it was last told, or a check ended without being told; undefined: no check has ended yet. */
  heardAt: Instant | undefined
  /** Checks that are under way. */
  running: number
  /** By kind of check, by user: requests in this window. */
  readonly spent: Map<string, number>
}

export function createAllowances({ now }: { readonly now: () => Instant }): Allowances {
  const allowances = new LRUCache<string, Allowance>({ max: MAX_ALLOWANCES })

  function allowanceOf({ connectionId, origin }: Spender): Allowance {
    const name = connectionId ?? `anonymous ${origin}`
    const known = allowances.get(name)
    if (known) return known
    const created: Allowance = { window: undefined, heardAt: undefined, running: 0, spent: new Map() }
    allowances.set(name, created)
    return created
  }

  return {
    mayBegin(spender) {
      if (spender.origin === null) return true
      const allowance = allowanceOf(spender)
      endWindow(allowance, now())
      const { window, heardAt, running } = allowance
      const isUnknown = heardAt === undefined || (!window && now() - heardAt > UNTOLD_MS)
      if (isUnknown) return spender.connectionId !== null || running < MOST_BEFORE_FIRST_ANSWER
      if (!window) return true
      return mayUse(allowance, spender, 'looking', window.remaining - Math.ceil(window.limit / KEPT))
    },
    begin(spender) {
      const allowance = allowanceOf(spender)
      allowance.running++
      return () => {
        allowance.running--
        // A destination that does not answer keeps nobody waiting for what it tells.
        allowance.heardAt ??= now()
      }
    },
    forCheck(spender, isDeciding) {
      const allowance = allowanceOf(spender)
      const kind = isDeciding ? 'deciding' : 'looking'
      return {
        count() {
          endWindow(allowance, now())
          const { window, spent } = allowance
          if (window) {
            if (isDeciding && !mayUse(allowance, spender, kind, window.remaining)) {
              throw new DestinationError('rate_limited', { retryAfterMs: window.resetAt - now() })
            }
            window.remaining--
          }
          for (const user of usersOf(spender, kind)) spent.set(user, (spent.get(user) ?? 0) + 1)
        },
        heard(headers) {
          allowance.heardAt = now()
          const told = readAllowance(headers, now())
          if (!told) return
          const { window } = allowance
          const isSame = window && Math.abs(window.resetAt - told.resetAt) < SAME_WINDOW_MS
          if (!isSame) allowance.spent.clear()
          // Answers overtake each other: within a window the least counts.
          const remaining = isSame ? Math.min(window.remaining, told.remaining) : told.remaining
          allowance.window = { ...told, remaining }
        },
      }
    },
  }
}

function mayUse({ spent }: Allowance, spender: Spender, kind: string, free: number): boolean {
  const [workspace, key] = usersOf(spender, kind)
  const ofWorkspace = WEIGHTS.workspace * free - (spent.get(workspace) ?? 0)
  return mayTake(spent.get(key) ?? 0, ofWorkspace, WEIGHTS.key)
}

function usersOf({ workspaceId, submittedBy }: Spender, kind: string): [workspace: string, key: string] {
  return [`${kind} ${workspaceId}`, `${kind} ${workspaceId} ${submittedBy}`]
}

function endWindow(allowance: Allowance, now: Instant): void {
  if (!allowance.window || now < allowance.window.resetAt) return
  allowance.window = undefined
  allowance.heardAt = undefined
  allowance.spent.clear()
}

/** GitHub's and Gitea's `X-RateLimit-*`, or the `RateLimit-*` of IETF drafts and GitLab. The end is a time in seconds, or seconds from now. */
function readAllowance(headers: Headers, now: Instant): Allowance['window'] {
  for (const prefix of ['x-ratelimit', 'ratelimit']) {
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
      seconds(headers, `${prefix}-${name}`),
    )
    if (limit === undefined || remaining === undefined || reset === undefined) continue
    // GitHub counts searches and the like apart.
    if ((headers.get(`${prefix}-resource`) ?? 'core') !== 'core') return undefined
    const resetAt = reset > A_TIME ? timeOf(reset, headers, now) : now + reset * 1000
    return resetAt > now ? { limit, remaining, resetAt } : undefined
  }
  return undefined
}

/** Larger numbers of seconds are times. */
const A_TIME = 1_000_000_000

/** A time is by the destination's clock, which its `Date` tells. */
function timeOf(reset: number, headers: Headers, now: Instant): Instant {
  const theirNow = Date.parse(headers.get('date') ?? '') || now
  return now + (reset * 1000 - theirNow)
}

function seconds(headers: Headers, name: string): number | undefined {
  const text = headers.get(name)
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}
