/** Colours for words of reports, at terminals that show them. */
import { styleText } from 'node:util'

export type Tone = 'good' | 'bad' | 'doubtful' | 'open'

export type Paint = (tone: Tone, text: string) => string

const FORMATS = { good: ['bold', 'green'], bad: ['bold', 'red'], doubtful: 'yellow', open: ['bold', 'gray'] } as const

/** The members of a Node stream that decide on colours. `hasColors` follows NO_COLOR, FORCE_COLOR and the terminal. */
interface OutputStream {
  readonly isTTY?: boolean | undefined
  hasColors?(): boolean
}

export function paintFor({ isTTY, ...stream }: OutputStream): Paint {
  const isColoured = isTTY === true && stream.hasColors?.() === true
  if (!isColoured) return (_tone, text) => text
  // Validation is off, because Node 22 and later would ask standard output, which need not be this stream.
  return (tone, text) => styleText(FORMATS[tone] as Parameters<typeof styleText>[0], text, { validateStream: false })
}
