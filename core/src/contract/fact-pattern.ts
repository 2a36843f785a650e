/**
 * Finds patterns of facts that let free text through. Facts are signed and public: prose, markup that spans lines, or characters that nobody sees
 * could be content, a credential that the destination repeats, or a message to the agent that reads the receipt.
 *
 * The rule tests each atom of the pattern, and not samples of text, which a prefix would avoid.
 */

/** Matches an escape, a class, the beginning of a group, a quantifier, or one character. */
const TOKEN =
  /\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[A-Za-z]|\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\(\?<?[:=!]|(?:[*+?]|\{\d+(?:,\d*)?\})\??|./gsu
const GROUP = /^\(/
const QUANTIFIER = /^(?:[*+?]|\{\d)/
/** The longest repetition that a pattern may have without a `maxLength`. */
const LONGEST_REPETITION = 1024

/** White space other than the plain space, control characters, and characters that reorder text. */
const HIDDEN = [
  ...range(0x00, 0x1f),
  ...range(0x7f, 0xa0),
  0x1680,
  ...range(0x2000, 0x200a),
  0x200e,
  0x200f,
  ...range(0x2028, 0x202f),
  0x205f,
  ...range(0x2066, 0x2069),
  0x3000,
  0xfeff,
].map((code) => String.fromCodePoint(code))
/** Characters that have a space behind them in lists, and not in words. */
const SEPARATORS = [',', ';', ':']

/** The part of a pattern that lets free text through, as a phrase that follows "a pattern that"; undefined if none does. */
export function freeTextIn(pattern: string): string | undefined {
  try {
    new RegExp(pattern, 'u')
  } catch {
    return 'is no regular expression'
  }
  const tokens = pattern.match(TOKEN) ?? []
  if (tokens[0] !== '^' || tokens.at(-1) !== '$') return 'is not anchored: begin with ^ and end with $'
  if (hasOuterChoice(tokens)) return 'is anchored in one of its alternatives only: write ^(?:a|b)$'
  for (const [index, token] of tokens.entries()) {
    const problem = atomProblem(token, tokens[index - 1])
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Tells whether every repetition in the pattern has an end. */
export function boundsItself(pattern: string): boolean {
  return (pattern.match(TOKEN) ?? [])
    .filter((token) => QUANTIFIER.test(token))
    .every(
      (token) => !/^(?:[*+]|\{\d+,\})/.test(token) && Number(/\d+(?=\})/.exec(token)?.[0] ?? 1) <= LONGEST_REPETITION,
    )
}

function hasOuterChoice(tokens: readonly string[]): boolean {
  let depth = 0
  for (const token of tokens) {
    if (GROUP.test(token)) depth++
    else if (token === ')') depth--
    else if (token === '|' && depth === 0) return true
  }
  return false
}

function atomProblem(token: string, before: string | undefined): string | undefined {
  if (GROUP.test(token) || QUANTIFIER.test(token) || ['^', '$', ')', '|'].includes(token)) return undefined
  // RE2 reads `[[:^alnum:]\]` as a class within a class, which ends later and matches anything.
  if (/^\[(?:\\.|[^\\])*\[/su.test(token)) return `has a bracket within ${token}: write \\[`
  const matches = matcherOf(token)
  if (matches === undefined) return `has ${token}, which refers to other text`
  if (HIDDEN.some(matches)) return `lets control characters, line breaks or invisible ones through at ${token}`
  if (!matches(' ')) return undefined
  return token === ' ' && SEPARATORS.includes(before!)
    ? undefined
    : `lets words with spaces through at ${token === ' ' ? 'its space' : token}: a space stands only behind a comma, semicolon or colon`
}

/** A matcher as the service's, which is RE2: its `\s` is less, so that `[^\s]` lets other white space and the vertical tab through. */
function matcherOf(atom: string): ((character: string) => boolean) | undefined {
  if (/^\\(?:[1-9]|k)/.test(atom)) return undefined
  const plain = atom.startsWith('[')
    ? atom.replaceAll(/\\./gsu, (token) => (token === '\\s' ? ' \\t\\n\\r\\f' : token))
    : atom
  const expression = new RegExp(`^(?:${plain})$`, 'u')
  return (character) => expression.test(character)
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
