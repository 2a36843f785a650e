/** Colour, for terminals that show it; and texts of others, without what a terminal would obey. */
import { styleText } from 'node:util'

export type Tone = 'good' | 'bad' | 'doubtful'

export type Paint = (tone: Tone, text: string) => string

const FORMATS = { good: ['bold', 'green'], bad: ['bold', 'red'], doubtful: 'yellow' } as const

/** `hasColors` follows NO_COLOR, FORCE_COLOR and what the terminal can show. */
export interface OutputStream {
  readonly isTTY?: boolean | undefined
  hasColors?(): boolean
}

export function paintFor({ isTTY, ...stream }: OutputStream): Paint {
  const isColoured = isTTY === true && stream.hasColors?.() === true
  return (tone, text) => (isColoured ? styleText(FORMATS[tone] as Parameters<typeof styleText>[0], text) : text)
}

/** Control characters, and those that turn the direction of writing, are written as escapes. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}
