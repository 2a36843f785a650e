/** The fact that says who reported the checks of a claim: the host's own word, as far as it tells. */
import { Type } from '@claimcheck/core/plugin'
import type { Check } from '../code-host.ts'

const MOST = 6
const LONGEST = 80
// What is chosen freely, as the key of a status, may be no text for a receipt.
const ONE = `[a-z-]+(?::[A-Za-z0-9_./@-]{1,${LONGEST}})?`

const MORE = 'others'

export const reportedByFact = Type.Optional(
  Type.String({
    title: 'Reported by',
    pattern: `^${ONE}(?:, ${ONE}){0,${MOST}}$`,
    maxLength: 1024,
    description:
      "Who reported the checks that count, by the host's own account: `github-actions` for jobs that the host ran, `app-id:15368` for what an app reported, `account-id:583231` for what an account posted.",
  }),
)

const IDENTIFIER = new RegExp(`^${ONE}$`)

export function reportedBy(checks: readonly Pick<Check, 'by'>[]): { readonly reported_by?: string } {
  const names = [...new Set(checks.flatMap(({ by: [first] }) => first ?? []))].sort()
  const shown = names.filter((name) => IDENTIFIER.test(name)).slice(0, MOST)
  const all = shown.length < names.length ? [...shown, MORE] : shown
  return all.length === 0 ? {} : { reported_by: all.join(', ') }
}
