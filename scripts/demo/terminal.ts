/** Prints the demo: with colour and a moving line on a terminal, in plain lines when piped. */
import { styleText } from 'node:util'

const isTerminal = process.stdout.isTTY === true
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 80

type Style = Parameters<typeof styleText>[0]

export function paint(style: Style, text: string): string {
  return isTerminal ? styleText(style, text) : text
}

export function say(text = ''): void {
  process.stdout.write(`${text}\n`)
}

export function heading(text: string): void {
  say(`\n${paint('bold', text)}`)
}

export function command(text: string): void {
  say(`  ${paint('cyan', `$ ${text}`)}`)
}

/** Shows that something is being waited for; the line it leaves is what came of it. */
export async function waiting<T>(text: string, work: Promise<T>, outcome: (result: T) => string): Promise<T> {
  const startedAt = Date.now()
  let frame = 0
  const draw = () => {
    const seconds = Math.floor((Date.now() - startedAt) / 1000)
    process.stdout.write(
      `\r\x1b[2K  ${paint('cyan', FRAMES[frame++ % FRAMES.length]!)} ${text} ${paint('dim', `${seconds} s`)}`,
    )
  }
  const timer = isTerminal ? setInterval(draw, FRAME_MS) : undefined
  if (!isTerminal) say(`  ... ${text}`)
  try {
    const result = await work
    if (isTerminal) process.stdout.write('\r\x1b[2K')
    say(`  ${outcome(result)}`)
    return result
  } finally {
    clearInterval(timer)
  }
}

const VERDICT_STYLES: Readonly<Record<string, Style>> = {
  verified: 'green',
  late: 'yellow',
  mismatch: 'magenta',
  failed: 'red',
  unverifiable: 'gray',
}

/** Differ by shape and word, not by colour alone. */
const VERDICT_SIGNS: Readonly<Record<string, string>> = {
  verified: '✔',
  late: '◷',
  mismatch: '≠',
  failed: '✘',
  unverifiable: '?',
}

export function showVerdict(value: string): string {
  return paint(VERDICT_STYLES[value] ?? 'white', `${VERDICT_SIGNS[value] ?? ' '} ${value}`)
}
