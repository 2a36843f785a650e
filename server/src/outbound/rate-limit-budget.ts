/**
 * Shares out a destination's rate limit, such as GitHub's 60 anonymous requests an hour: by payer (`Places`), and with a part kept for checks that
 * decide. So nobody can use it up for all. Of what is left, looking again at claims uses half at most: a token is its workspace's own. Looks on hints
 * end while half of the limit is left, so that hints take nothing from the claims' own looks. The destination's own headers tell the budget, so that
 * requests of others count as well.
 */

import { mayTake } from '@claimcheck/core/hosting'
import { DestinationError } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { Places } from '../base/places.ts'
import type { Lane } from '../storage/claims.ts'

/** The sender of requests, and the budget that they use: a connection's, or that of all who read an origin without credentials. */
export type Spender = Pick<Lane, 'payer' | 'connectionId' | 'origin'>

export type RateLimitBudgets = ReturnType<typeof createRateLimitBudgets>

/** The requests of one check. */
export type Spending = ReturnType<RateLimitBudgets['forCheck']>

/** The divisor of a limit that gives the requests kept for checks that decide. */
const KEPT = 4
/** The weights that limit payers. Alone, an allowance uses 2/3 of what may be used; of what checks that decide may use, 4/5. */
const WEIGHTS = { looking: 2, deciding: 4 } as const
/** The weight that keeps looking again to at most as many requests as it leaves. */
const AGAIN_WEIGHT = 1
/** The multiple of the kept requests that looks on hints leave: half of the limit. Of what is above it, they use half at most. */
const LEFT_BY_HINTS = 2
/** The number of requests that are set aside for a check that begins. */
const PER_CHECK = 4
/** The most checks at a time while everybody's common budget is not known: a burst could use it up before the first answer tells of it. */
const MOST_BEFORE_FIRST_ANSWER = 4
const MAX_ALLOWANCES = 5000
/** The time after which a destination that told no budget is asked again. */
const UNTOLD_MS = 10 * 60_000
/** The longest time that a told budget counts: a wrong end would else keep us from ever hearing the right one. */
const LONGEST_WINDOW_MS = 60 * 60_000

type Kind = keyof typeof WEIGHTS

interface Window {
  /** The number of requests that are kept for checks that decide. */
  readonly kept: number
  readonly remaining: number
  readonly resetAt: Instant
}

function newWindow() {
  return {
    /** The current window; undefined when the answers tell of none. */
    window: undefined as Window | undefined,
    /** The time when the budget was last told, or a check ended without it; undefined until a check has ended. */
    heardAt: undefined as Instant | undefined,
    /** Requests in this window, including those that are set aside. */
    spent: { looking: new Places(), deciding: new Places() },
    /** The number of requests for looking again in this window. */
    spentAgain: 0,
    /** The number of requests for looks on hints in this window. */
    spentHinted: 0,
  }
}

function newBudget() {
  return {
    ...newWindow(),
    /** The number of checks that are under way. */
    running: 0,
    /** The number of requests that are not answered yet, or set aside. */
    pending: 0,
  }
}

type RateLimitBudget = ReturnType<typeof newBudget>

export function createRateLimitBudgets({ now }: { readonly now: () => Instant }) {
  const budgets = new LRUCache<string, RateLimitBudget>({ max: MAX_ALLOWANCES, memoMethod: newBudget })
  /** Connections that read without credentials. */
  const anonymous = new LRUCache<string, true>({ max: MAX_ALLOWANCES })

  const isShared = ({ connectionId }: Spender) => connectionId === null || anonymous.has(connectionId)

  function budgetOf(spender: Spender): RateLimitBudget {
    const budget = budgets.memo(isShared(spender) ? `anonymous ${spender.origin}` : spender.connectionId!)
    if (budget.window && now() >= budget.window.resetAt) Object.assign(budget, newWindow())
    return budget
  }

  function mayUse({ spent }: RateLimitBudget, spender: Spender, kind: Kind, free: number): boolean {
    // A connection's own budget is not shared out, because a connection belongs to one workspace.
    return isShared(spender) ? spent[kind].mayTake(spender.payer, free, WEIGHTS[kind]) : free > 0
  }

  function isUnknown({ window, heardAt }: RateLimitBudget): boolean {
    return heardAt === undefined || (!window && now() - heardAt > UNTOLD_MS)
  }

  /** Tells whether a look on a hint may use one more request. @param pending the requests that others have not used yet */
  function mayHint({ spentHinted }: RateLimitBudget, { remaining, kept }: Window, pending: number): boolean {
    return mayTake(spentHinted, remaining - LEFT_BY_HINTS * kept - pending, 1)
  }

  return {
    /** Tells whether a check that only looks may begin: a part stays free for others, and for checks that decide. */
    mayBegin(spender: Spender): boolean {
      if (spender.origin === null) return true
      const budget = budgetOf(spender)
      const { window, running, pending } = budget
      if (isUnknown(budget)) return !isShared(spender) || running < MOST_BEFORE_FIRST_ANSWER
      if (!window) return true
      return mayUse(budget, spender, 'looking', window.remaining - window.kept - pending)
    },
    /** Tells whether a look on a hint may begin. None does by everybody's common budget. */
    mayBeginOnHint(spender: Spender): boolean {
      const budget = budgetOf(spender)
      const { window, pending } = budget
      if (isShared(spender)) return !window && !isUnknown(budget)
      return !window || mayHint(budget, window, pending)
    },
    /** Sets requests aside for a check that begins. The returned function ends the check. */
    begin(spender: Spender, isDeciding: boolean): () => void {
      const budget = budgetOf(spender)
      const kind = isDeciding ? 'deciding' : 'looking'
      const setAside = budget.window ? PER_CHECK : 0
      budget.running++
      budget.pending += setAside
      budget.spent[kind].add(spender.payer, setAside)
      return () => {
        budget.running--
        budget.pending -= setAside
        budget.spent[kind].add(spender.payer, -setAside)
        // A destination that never answers keeps nobody waiting for its budget.
        budget.heardAt ??= now()
      }
    },
    /** Tells whether reads have no credentials at a place that counts them, so that they use everybody's one budget. */
    isSharedByAll: (spender: Spender) =>
      isShared(spender) && spender.origin !== null && budgetOf(spender).window !== undefined,
    /** Forgets the budget of a connection that no longer exists. */
    forget(connectionId: string): void {
      budgets.delete(connectionId)
      anonymous.delete(connectionId)
    },
    /** Counts the requests of a check. */
    forCheck(
      spender: Spender,
      check: {
        readonly isDeciding: boolean
        /** True for a look on a hint. */
        readonly isHinted?: boolean
        /** True for a claim that was checked before. */
        readonly isAgain: boolean
        /** False for a connection that reads without credentials, as everybody may. */
        readonly hasCredentials: boolean
      },
    ) {
      const { isDeciding, isHinted = false, isAgain, hasCredentials } = check
      if (spender.connectionId !== null && !hasCredentials) anonymous.set(spender.connectionId, true)
      let isRefused = false
      const spentBy = isHinted ? 'spentHinted' : 'spentAgain'

      function mayCount(budget: RateLimitBudget, window: Window): boolean {
        const { remaining, kept } = window
        if (isDeciding) return mayUse(budget, spender, 'deciding', remaining)
        if (isHinted) return mayHint(budget, window, 0)
        // Requests were set aside for this check.
        return remaining > kept && (!isAgain || mayTake(budget.spentAgain, remaining, AGAIN_WEIGHT))
      }

      return {
        /** Tells whether a request of the check was refused. */
        isRefused: () => isRefused,
        /**
         * Counts a request that is sent now. The result takes the headers of its answer, or nothing when there was none.
         * @throws DestinationError `rate_limited`, without a time, when this check may send no more
         */
        count(): (headers?: Headers) => void {
          const budget = budgetOf(spender)
          const { window } = budget
          if (window && !mayCount(budget, window)) {
            isRefused = true
            throw new DestinationError('rate_limited')
          }
          budget.pending++
          if (window) budget.spent[isDeciding ? 'deciding' : 'looking'].add(spender.payer, 1)
          const counts = window !== undefined && isAgain && !isDeciding
          if (counts) budget[spentBy]++
          return (headers) => {
            budget.pending--
            const before = budget.window?.remaining
            if (headers) hear(budget, headers, now())
            const after = budget.window?.remaining
            // Unchanged pages are free at some destinations.
            const isFree = before !== undefined && after !== undefined && after >= before
            if (counts && isFree && budget[spentBy] > 0) budget[spentBy]--
          }
        },
      }
    },
  }
}

function hear(budget: RateLimitBudget, headers: Headers, now: Instant): void {
  budget.heardAt = now
  const told = readWindow(headers, now)
  // A window keeps its end while it goes on: some destinations tell an end that moves with every answer.
  if (told) budget.window = { ...told, resetAt: budget.window?.resetAt ?? told.resetAt }
}

/** The number from which seconds are a time, and no length of time. */
const A_TIME = 1_000_000_000

/** Reads GitHub's and Gitea's `X-RateLimit-*`, or the `RateLimit-*` of IETF drafts and GitLab. The end is a time in seconds, or seconds from now. */
function readWindow(headers: Headers, now: Instant): Window | undefined {
  for (const prefix of ['x-ratelimit', 'ratelimit']) {
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
      const text = headers.get(`${prefix}-${name}`) ?? ''
      return /^\d{1,12}$/.test(text) ? Number(text) : undefined
    })
    if (limit === undefined || remaining === undefined || reset === undefined) continue
    // GitHub counts searches and the like apart.
    if ((headers.get(`${prefix}-resource`) ?? 'core') !== 'core') return undefined
    // A time is one by the destination's clock, which its `Date` tells.
    const from = reset > A_TIME ? Date.parse(headers.get('date') ?? '') || now : 0
    const leftMs = Math.min(reset * 1000 - from, LONGEST_WINDOW_MS)
    return leftMs > 0 ? { kept: Math.ceil(limit / KEPT), remaining, resetAt: now + leftMs } : undefined
  }
  return undefined
}
