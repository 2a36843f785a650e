/** The facts that name the checks of a claim and who reported them, by the host's own word as far as it tells. */
import { Type } from '@claimcheck/core/plugin'
import type { Check } from '../code-host.ts'
import { GITHUB_JOBS, nameOf } from '../reporters.ts'

const MOST = 6
const LONGEST = 80
// Matches an identifier of a reporter. Its free part, such as the key of a status, may be no text for a receipt.
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

export function reportersFact(checks: readonly Pick<Check, 'by'>[]): string | undefined {
  return listNames(
    checks.flatMap(({ by: [first] }) => first ?? []),
    IDENTIFIER,
  )
}

// Matches a name as in a URL, so that it is no text for a receipt.
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

export function seenNames(checks: readonly Pick<Check, 'name'>[]): string | undefined {
  return listNames(
    checks.map(({ name }) => encodeName(name)),
    SHOWN_NAME,
  )
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

export function redNames(checks: readonly Pick<Check, 'name' | 'by' | 'outcome'>[]): string | undefined {
  return listNames(checks.filter(({ outcome }) => outcome === 'failed').map(redName), SHOWN_RED)
}

/** Tells whether all red checks of an earlier look, as its fact has them, have passed since, so that none was taken away. */
export function haveAllPassed(red: string, checks: readonly Pick<Check, 'name' | 'by' | 'outcome'>[]): boolean {
  const passed = checks.filter(({ outcome }) => outcome === 'passed')
  const files = passed.flatMap(({ by }) => by.flatMap((one) => nameOf(one, 'workflow') ?? []))
  // A workflow that could not start shows under the name of its file.
  const names = new Set([...passed.map(redName), ...files.map((file) => `${encodeName(file)}@${GITHUB_JOBS}`)])
  return red.split(', ').every((one) => one === MORE || names.has(one))
}

function redName({ name, by: [first = ''] }: Pick<Check, 'name' | 'by'>): string {
  return `${encodeName(name)}@${first}`
}

/** Lists the names that fit the pattern, six at most; undefined where there are no names at all. */
function listNames(all: readonly string[], pattern: RegExp): string | undefined {
  const names = [...new Set(all)].sort()
  const shown = names.filter((name) => pattern.test(name)).slice(0, MOST)
  return [...shown, ...(shown.length < names.length ? [MORE] : [])].join(', ') || undefined
}

/** Encodes a name as in a URL; empty for what is no text in Unicode. */
function encodeName(name: string): string {
  return name.isWellFormed() ? encodeURIComponent(name).replaceAll('%2F', '/') : ''
}
