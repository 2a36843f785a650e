/** The facts that say who reported the checks of a claim, by the host's own word as far as it tells, and what they are called. */
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

// As in a URL, so that a name is no text for a receipt.
const NAME = "[A-Za-z0-9_.~!*'()%/-]{1,60}"

export const seenFact = Type.Optional(
  Type.String({
    title: 'Seen',
    pattern: `^${NAME}(?:, ${NAME}){0,${MOST}}$`,
    maxLength: 512,
    description: 'The names of the checks that the host shows, percent-encoded, of a claim that has to name them.',
  }),
)

const SHOWN_NAME = new RegExp(`^${NAME}$`)

export function seenNames(checks: readonly Pick<Check, 'name'>[]): { readonly seen?: string } {
  const names = [...new Set(checks.map(({ name }) => encoded(name)))].sort()
  const shown = names.filter((name) => SHOWN_NAME.test(name)).slice(0, MOST)
  const all = shown.length < names.length ? [...shown, MORE] : shown
  return all.length === 0 ? {} : { seen: all.join(', ') }
}

/** Empty for what is no text in Unicode. */
function encoded(name: string): string {
  return name.isWellFormed() ? encodeURIComponent(name).replaceAll('%2F', '/') : ''
}
