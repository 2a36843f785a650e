/** The pictures that pages of the repository show: there, each with the text that it was made with. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lastingText, PICTURES } from './browser/pictures.ts'
import { readPage } from './docs/markdown.ts'

t.test('each picture has its text, and the README shows pictures that a test makes', async (t) => {
  const files = readdirSync(PICTURES)
  const names = files.filter((file) => file.endsWith('.png')).map((file) => file.replace('.png', ''))
  t.strictSame(files.toSorted(), names.flatMap((name) => [`${name}.png`, `${name}.txt`]).toSorted())
  const story = readFileSync('test/browser/story.test.ts', 'utf8')
  for (const name of names) t.match(story, `await picture(t, page, '${name}')`)
  const shown = readPage(readFileSync('README.md', 'utf8')).links.filter((link) => link.endsWith('.png'))
  t.ok(shown.length > 0)
  for (const link of shown)
    t.ok(names.map((name) => join(PICTURES, `${name}.png`)).includes(link) && existsSync(link), link)
})

const rows: [text: string, lasting: string][] = [
  ['Commit 0d9b87de00 was on main', 'Commit 0 was on main'],
  ['rcpt_01M8BC0CN2FJ7K6QKE1WCTRXH6', '0'],
  ['2026-11-26 08:00:01 UTC +10 min 2 s', '0 0 UTC +0 s'],
  ['2 min. ago 3 in 5 s', '0 s 0 0 s'],
  ['2 min. ago 3 now', '0 s 0 0 s'],
  ['@claimcheck/plugin-codehost 0.1.0, sha256:jdUwSbqj…0a', '@claimcheck/plugin-codehost 0, 0'],
  ['http://localhost:8080/r/rcpt_01M8BC0CN2FJ7K6QKE1WCTRXH6', 'http://localhost:0/r/0'],
  ['release-bot', 'release-bot'],
  ['  a \n\n b', 'a\nb'],
]

for (const [text, lasting] of rows) {
  t.test(`what lasts of a text: ${JSON.stringify(text)}`, async (t) => t.equal(lastingText(text), lasting))
}
