/** Skeletons, against what others make of the same texts. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONFUSABLES, CONFUSABLES_VERSION } from '@claimcheck/server/names/confusable-table'
import { differenceOf, lookAlike, looksOf, skeleton } from '@claimcheck/server/names/confusables'
import { composed, idProblem } from '@claimcheck/server/names/names'
import t from 'tap'

/** As the `uspoof_getSkeleton` of ICU 72 makes them, which has the table of Unicode 15: one of each 180 characters, in hexadecimal. */
const BY_ICU = `30=4f 23e=54+338 3f7=de 56e=1e9f 8b1=648 d34=bb4 1179=1163+116d 13f2=68+314 1535=b7+152a 1d52=ba 1fa3=3c9+328+314+300
2124=5a 2463=2783 2aa5=3e+3c 2f0f=51e0 2fc5=9e7f 320c=28+1111+29 a4ac=a050 ab71=280 ac9c=1100+1165+4e28+1106 b961=1105+1172+1105+1100
c56e=110b+1161+4e28+1105+1111 fa2e=90ce fc07=628+62e fcbb=639+645 fd7f=642+645+645 fecd=63a 104db=3bb 1d238=228f 1d4b7=62 1d57a=4f
1d62e=72+6e 1d6e4=393 1d798=6c 1ee6a=643`
const WORDS_BY_ICU: readonly (readonly [text: string, skeleton: string])[] = [
  ['paypal', 'paypal'],
  ['p\u0430yp\u0430l', 'paypal'],
  ['\u0455\u0441\u043e\u0440\u0435', 'scope'],
  ['Release-Bot', 'Release-Bot'],
  ['reIease-b0t', 'release-bOt'],
  ['pаypal1Im0', 'paypalllrnO'],
  ['\ufb01ne', 'fine'],
  ['\u210cello', 'Hello'],
]

const text = (codes: string) => String.fromCodePoint(...codes.split('+').map((code) => Number.parseInt(code, 16)))

t.test('skeletons are those of ICU', async (t) => {
  const samples = BY_ICU.split(/\s+/).map((sample) => sample.split('=') as [string, string])
  t.equal(samples.length, 35)
  for (const [from, to] of samples) t.equal(skeleton(text(from)), text(to), from)
  for (const [from, to] of WORDS_BY_ICU) t.equal(skeleton(from), to)
  t.equal(skeleton('a\u200b\u00ade\u0301'), skeleton('a\u00e9'), 'without what is ignored, and decomposed')
})

t.test('looks are in small letters, in which i and l are one, and other capitals may be two', async (t) => {
  t.strictSame(looksOf('release-bot'), ['release-bot'])
  t.strictSame(looksOf('M0DEM'), ['rnodern'])
  for (const name of ['MAIL', 'mail', 'maiI', 'mall', 'ma1l']) t.strictSame(looksOf(name), ['rnall'], name)
  t.strictSame(looksOf('\u041d\u0430'), ['ha', '\u029ca'], 'a capital N of Cyrillic, which looks like an H')
  t.strictSame(looksOf('a  b'), ['a b'])
  t.equal(lookAlike('maiI', ['mail2', 'mail']), 'mail')
  t.equal(lookAlike('mail', ['mail', 'rail', 'm\u00e1il']), undefined, 'neither itself nor a neighbour')
})

t.test('a difference names the first characters that differ', async (t) => {
  const differences: readonly (readonly [one: string, other: string, words: string | undefined])[] = [
    ['a', 'a', undefined],
    ['\u0435', 'e', 'U+0435 (\u0435) at position 1 is not U+0065 (e)'],
    ['\u{1f916}X', '\u{1f916}x', 'U+0058 (X) at position 2 is not U+0078 (x)'],
    ['a\u0301b', 'a', 'U+0301 at position 2 is one character more'],
    ['rn', 'r\u200bn', 'U+006E (n) at position 2 is not U+200B'],
    ['r', 'rn', 'U+006E (n) is missing at the end'],
  ]
  for (const [one, other, words] of differences) t.equal(differenceOf(one, other), words)
})

t.test('what is wrong with an id is said with the character and its place', async (t) => {
  const problems: readonly (readonly [id: string, problem: string | undefined])[] = [
    ['release bot', undefined],
    [' a', 'it begins with a blank (U+0020 at position 1): leave it out'],
    ['a ', 'it ends with a blank (U+0020 at position 2): leave it out'],
    ['a\u2003b', 'it has a space that is not a plain one (U+2003 at position 2): write a plain blank'],
    ['a\u0085', 'it has a control character (U+0085 at position 2): leave it out'],
    ['\u2067a', 'it has a character that turns the text around it (U+2067 at position 1): leave it out'],
    ['\u{1f916}\ue000', 'it has a character for private use (U+E000 at position 2): leave it out'],
    ['a\ud800', 'it has half a character (U+D800 at position 2): leave it out'],
    ['\uffff', 'it has a character that Unicode does not know (U+FFFF at position 1): leave it out'],
    ['a\u200db', 'it has an invisible character (U+200D at position 2): leave it out'],
    ['\u1112\u1161', 'it has a part of a syllable (U+1112 at position 1): write whole syllables, as in NFC'],
  ]
  for (const [id, problem] of problems) t.equal(idProblem(id), problem)
  t.equal(composed(' e\u0301\u3000\u00a0x '), '\u00e9 x')
  t.equal(composed('\u1112\u1161'), '\ud558')
})

t.test('the tables are what the command writes from the file of Unicode', (t) => {
  const padded = (codes: string) =>
    codes
      .toUpperCase()
      .split('+')
      .map((code) => code.padStart(4, '0'))
      .join(' ')
  const lines = CONFUSABLES.trim()
    .split(/\s+/)
    .flatMap((group) => {
      const [to, from] = group.split('=') as [string, string]
      return from.split(',').map((code) => `${padded(code)} ;\t${padded(to)} ;\tMA\t# it\t# `)
    })
  t.equal(lines.length, 6565, 'as many as the file says that it has')
  const folder = t.testdir({ server: { src: { names: {} } }, core: { src: { words: {} } } })
  const file = join(folder, 'confusables.txt')
  writeFileSync(file, ['\ufeff# confusables.txt', `# Version: ${CONFUSABLES_VERSION}`, ...lines].join('\r\n'))
  execFileSync(process.execPath, ['build/scripts/confusables.js', file, folder])
  for (const made of ['server/src/names/confusable-table.ts', 'core/src/words/latin-twins.ts']) {
    t.equal(readFileSync(join(folder, made), 'utf8'), readFileSync(made, 'utf8'), made)
  }
  writeFileSync(file, 'something else')
  t.throws(() => execFileSync(process.execPath, ['build/scripts/confusables.js', file, folder], { stdio: 'pipe' }), {
    message: /does not say its version: it is not the file of Unicode/,
  })
  t.end()
})
