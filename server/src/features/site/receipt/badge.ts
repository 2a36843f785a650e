/** The badge of a receipt: an SVG for READMEs and pages. It is green only where the issuer lists the destination. */
import type { Tone } from '../../../web/receipt-view/view.ts'

/** The look of a badge. A receipt without content has no verdict to show. */
export type BadgeTone = Tone | 'erased'

const RESULTS: Readonly<Record<BadgeTone, readonly [words: string, colour: string]>> = {
  verified: ['verified', '#11692f'],
  unlisted: ['verified at an unlisted destination', '#525a68'],
  late: ['late', '#875000'],
  mismatch: ['mismatch', '#a63a0c'],
  failed: ['failed', '#b0171f'],
  unverifiable: ['unverifiable', '#525a68'],
  doubtful: ['a proof fails', '#b0171f'],
  unvouched: ['no trusted key signed it', '#525a68'],
  erased: ['erased', '#525a68'],
}

const NAME = 'claimcheck'
const PADDING = 7
/** The width of a letter of Verdana at 11 pixels; the text is stretched to its place. */
const LETTER_WIDTH = 6.6

/** Writes the text of a badge for screen readers. */
export function badgeText(tone: BadgeTone): string {
  return `Claimcheck: ${RESULTS[tone][0]}`
}

/** @param hasChanged true where what was verified is no longer so */
export function badgeOf(tone: BadgeTone, hasChanged = false): string {
  const [result, colour] = RESULTS[tone]
  const words = hasChanged ? `${result}, changed since` : result
  const left = widthOf(NAME)
  const right = widthOf(words)
  const width = left + right
  const text = (content: string, x: number, size: number) =>
    `<text x="${x + PADDING}" y="14" textLength="${size - 2 * PADDING}">${content}</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${NAME}: ${words}">`,
    `<title>${NAME}: ${words}</title>`,
    `<clipPath id="round"><rect width="${width}" height="20" rx="4"/></clipPath>`,
    `<g clip-path="url(#round)"><rect width="${left}" height="20" fill="#171a21"/><rect x="${left}" width="${right}" height="20" fill="${colour}"/></g>`,
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(NAME, 0, left)}${text(words, left, right)}</g>`,
    '</svg>',
  ].join('')
}

/** Makes the icon of the page's tab: the colour of the badge, and the mark of its verdict. */
export function iconOf(tone: BadgeTone): string {
  const [, colour] = RESULTS[tone]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="${colour}"/><path d="${ICON_PATHS[tone]}" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>`
}

const QUESTION = 'M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.3-1 .7-1 1.4M8 12.2v.1'
const ICON_PATHS: Readonly<Record<BadgeTone, string>> = {
  verified: 'm4 8.4 2.7 2.7L12 5.6',
  unlisted: 'm4 8.4 2.7 2.7L12 5.6',
  late: 'M8 4v4.2l2.8 1.7',
  mismatch: 'M4.5 6.5h7M4.5 9.8h7M10 4 6 12.3',
  failed: 'm4.8 4.8 6.4 6.4m0-6.4-6.4 6.4',
  unverifiable: QUESTION,
  doubtful: 'M8 3.6v5M8 12v.1',
  unvouched: QUESTION,
  erased: 'M4 8h8',
}

function widthOf(text: string): number {
  return Math.round(text.length * LETTER_WIDTH) + 2 * PADDING
}
