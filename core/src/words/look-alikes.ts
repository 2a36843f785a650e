/** Names and addresses that look as if they were of another script, by the restriction levels of UTS 39. */
import { parseUrl } from '../url.ts'
import { LATIN_TWINS } from './latin-twins.ts'
import { codeOf, visibleName } from './plain-text.ts'

const LABELS = /[\p{L}\p{M}\p{N}\u200c_-]+/gu
const ASCII = /^[\x20-\x7e]*$/
/** Sets of scripts: those in common use (UAX 31, table 5), and those that are written together. */
const WRITTEN = [
  ...'Arab Armn Beng Cyrl Deva Ethi Geor Grek Gujr Guru Hebr Khmr Knda Laoo Latn Mlym Mymr Orya Sinh Taml Telu Thaa Thai Tibt'
    .split(' ')
    .map((script) => [script]),
  ['Latn', 'Hani', 'Hira', 'Kana'],
  ['Latn', 'Hani', 'Bopo'],
  ['Latn', 'Hani', 'Hang'],
].map(
  (scripts) =>
    new RegExp(`^[\\p{scx=Zyyy}\\p{scx=Zinh}${scripts.map((one) => `\\p{scx=${one}}`).join('')}\\u200c]+$`, 'u'),
)

let twins: ReadonlySet<string> | undefined

/** The name as `visibleName` writes it; after it in punycode each part that mixes scripts, or looks like ASCII and is not. */
export function withPunycode(name: string): string {
  if (ASCII.test(name)) return visibleName(name)
  const doubtful = [...new Set([...name.matchAll(LABELS)].map(([label]) => label))].filter(isDoubtful)
  return visibleName(name) + (doubtful.length === 0 ? '' : ` (${doubtful.map(inAscii).join(', ')})`)
}

function isDoubtful(label: string): boolean {
  if (ASCII.test(label)) return false
  if (!WRITTEN.some((script) => script.test(label))) return true
  twins ??= new Set(
    LATIN_TWINS.trim()
      .split(/\s+/)
      .map((code) => String.fromCodePoint(Number.parseInt(code, 16))),
  )
  const letters = [...label.normalize('NFC').replace(/[\p{M}\u200c_-]/gu, '')]
  return letters.every((letter) => ASCII.test(letter) || twins!.has(letter))
}

/** Writes a doubtful part of a name in punycode; where no host can have it, by the codes of its characters that are not of ASCII. */
function inAscii(label: string): string {
  const host = parseUrl(`http://${label}`)?.hostname
  if (host?.includes('xn--')) return host
  return [...label]
    .filter((character) => !ASCII.test(character))
    .map(codeOf)
    .join(' ')
}
