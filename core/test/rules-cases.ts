/** Cases of the verdict rules as tables: each version of the rules has one, and they are run alike. */
import {
  type CheckRecord,
  type ClaimTimes,
  decide,
  type FailureCode,
  type Interval,
  type Rules,
} from '@claimcheck/core'
import t from 'tap'

export interface Case {
  readonly name: string
  readonly checks: readonly CheckRecord[]
  /** `value` or `value/reason`; undefined: not decided yet. */
  readonly expected: string | undefined
  readonly appeared?: Interval
  /** When the last check was answered, unless given. */
  readonly now?: number
  readonly claim?: Partial<ClaimTimes>
  readonly rules?: Partial<Rules>
}

export function testCases(cases: readonly Case[], ordinaryRules: Rules, ordinaryClaim: ClaimTimes): void {
  for (const { name, checks, expected, appeared, now, claim, rules } of cases) {
    t.test(name, async (t) => {
      const at = now ?? checks.at(-1)!.answeredAt
      const decision = decide({ ...ordinaryRules, ...rules }, { ...ordinaryClaim, ...claim }, checks, at)
      const verdict = decision && [decision.verdict.value, decision.verdict.reasonCode].filter(Boolean).join('/')
      t.equal(verdict, expected)
      if (appeared) t.strictSame(decision?.appeared, appeared)
      if (decision) t.ok(checks.includes(decision.basis), 'the verdict is based on a recorded check')
    })
  }
}

export const failure = (sentAt: number, code: FailureCode, retryAt?: number): CheckRecord => ({
  sentAt,
  answeredAt: sentAt + 100,
  failure: { code, ...(retryAt === undefined ? {} : { retryAt }) },
})
