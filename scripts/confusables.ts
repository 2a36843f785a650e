/**
 * Writes the tables of characters that look alike from `confusables.txt`, which Unicode publishes with UTS 39, in the version that is to be
 * used: `npm run confusables -- FILE`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const USAGE = `Usage: npm run confusables -- FILE [FOLDER]

FILE: confusables.txt of https://www.unicode.org/Public/security/
FOLDER: where to write, by default the repository`
const LINE = /^([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA\t/
const LINE_WIDTH = 116

const [file, root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')] = process.argv.slice(2)
if (file === undefined || file.startsWith('-')) {
  console.log(USAGE)
  process.exit(file === '--help' ? 0 : 2)
}
const text = readFileSync(file, 'utf8')
const version = /^# Version: ([\d.]+)/m.exec(text)?.[1]
if (version === undefined) throw new Error(`${file} does not say its version: it is not the file of Unicode`)

const pairs = text.split(/\r?\n/).flatMap((line) => {
  const [, from, to] = LINE.exec(line) ?? []
  return from === undefined ? [] : [[from, to!.trim().split(' ').map(shortened).join('+')] as const]
})
const byTarget = new Map<string, string[]>()
for (const [from, to] of pairs) byTarget.set(to, [...(byTarget.get(to) ?? []), shortened(from)])
const groups = [...byTarget].map(([to, all]) => `${to}=${all.join()}`)

write(
  'server/src/names/confusable-table.ts',
  `/**
 * What looks alike, of Unicode ${version}: made by \`npm run confusables\` from \`confusables.txt\` of UTS 39, under the licence in
 * \`LICENSE-unicode\`. Each word is a prototype and all that looks like it, in hexadecimal.
 */
export const CONFUSABLES_VERSION = '${version}'

export const CONFUSABLES = \`
${wrapped(groups)}
\`
`,
)

const latin = pairs.flatMap(([from, to]) =>
  isLatinTwin(character(from), characters(to)) ? [Number.parseInt(from, 16)] : [],
)
write(
  'core/src/words/latin-twins.ts',
  `/** Letters that look like letters or digits of ASCII and are not, of Unicode ${version}: made by \`npm run confusables\`. */
export const LATIN_TWINS: string = \`
${wrapped(latin.sort((one, other) => one - other).map((code) => code.toString(16)))}
\`
`,
)

function isLatinTwin(from: string, to: string): boolean {
  return from > '~' && /^(?!\p{Script=Common})[\p{L}\p{Nd}]$/u.test(from) && /^[A-Za-z0-9]+$/.test(to)
}

function characters(codes: string): string {
  return codes.split('+').map(character).join('')
}

function character(code: string): string {
  return String.fromCodePoint(Number.parseInt(code, 16))
}

function shortened(code: string): string {
  return Number.parseInt(code, 16).toString(16)
}

function wrapped(words: readonly string[]): string {
  return words.reduce((lines, word) => {
    const end = lines.length - lines.lastIndexOf('\n') - 1
    if (lines === '') return word
    return `${lines}${end + word.length < LINE_WIDTH ? ' ' : '\n'}${word}`
  }, '')
}

function write(path: string, content: string): void {
  writeFileSync(join(root, path), content)
}
