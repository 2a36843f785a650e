/** The facts that say who reported the checks of a claim, by the host's own word as far as it tells, and what they are called. */
import { Type } from '@claimcheck/core/plugin'
import type { Check } from '../code-host.ts'
import { GITHUB_JOBS, nameOf } from '../reporters.ts'

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
  const all = shownOf(
    checks.flatMap(({ by: [first] }) => first ?? []),
    IDENTIFIER,
  )
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
  const all = shownOf(
    checks.map(({ name }) => encoded(name)),
    SHOWN_NAME,
  )
  return all.length === 0 ? {} : { seen: all.join(', ') }
}

const RED = `${NAME}@${ONE}`

export const redFact = Type.Optional(
  Type.String({
    title: 'Not passed',
    pattern: `^(?:${RED}|${MORE})(?:, (?:${RED}|${MORE})){0,${MOST}}$`,
    maxLength: 1024,
    description: 'The names of the checks that failed, percent-encoded, each with who reported it.',
  }),
)

const SHOWN_RED = new RegExp(`^${RED}$`)

export function redNames(checks: readonly Pick<Check, 'name' | 'by' | 'outcome'>[]): { readonly red?: string } {
  const all = shownOf(checks.filter(({ outcome }) => outcome === 'failed').map(redName), SHOWN_RED)
  return all.length === 0 ? {} : { red: all.join(', ') }
}

/** Each of these red ones, as a fact of an earlier look has them, has passed since: it was not taken away. */
export function haveAllPassed(red: string, checks: readonly Pick<Check, 'name' | 'by' | 'outcome'>[]): boolean {
  const passed = checks.filter(({ outcome }) => outcome === 'passed')
  const files = passed.flatMap(({ by }) => by.flatMap((one) => nameOf(one, 'workflow') ?? []))
  // A workflow that could not start shows as its file.
  const names = new Set([...passed.map(redName), ...files.map((file) => `${encoded(file)}@${GITHUB_JOBS}`)])
  return red.split(', ').every((one) => one === MORE || names.has(one))
}

function redName({ name, by: [first = ''] }: Pick<Check, 'name' | 'by'>): string {
  return `${encoded(name)}@${first}`
}

/** Of those that are identifiers, six at most. */
function shownOf(all: readonly string[], pattern: RegExp): string[] {
  const names = [...new Set(all)].sort()
  const shown = names.filter((name) => pattern.test(name)).slice(0, MOST)
  return shown.length < names.length ? [...shown, MORE] : shown
}

/** Empty for what is no text in Unicode. */
function encoded(name: string): string {
  return name.isWellFormed() ? encodeURIComponent(name).replaceAll('%2F', '/') : ''
}
