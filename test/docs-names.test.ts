/** What pages of documentation name exists: files and headings that they link to, commands, options, scripts, subpaths of core. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { commandsIn, problemOf } from './docs/help.ts'
import { type Page, readPage } from './docs/markdown.ts'
import { ROOMS } from './rooms.ts'

const SKIPPED = new Set(['node_modules', 'build', 'dist', 'data', '.git', '.tap'])

function markdownFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (SKIPPED.has(entry.name)) return []
    if (entry.isDirectory()) return markdownFiles(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

const FILES = markdownFiles('.')
const pages = new Map(FILES.map((file) => [file, readPage(readFileSync(file, 'utf8'))]))

/** Links of a page that lead nowhere. Those to other hosts are not followed. */
function brokenLinks(file: string, { links }: Pick<Page, 'links'>): string[] {
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? file : normalize(join(dirname(file), path))
    if (!existsSync(target)) return true
    return anchor !== undefined && !pages.get(target)?.anchors.includes(anchor)
  })
}

/** Commands in the text, and in the first cells of a table that is headed by the program's name. */
function namedCommands({ prose, spans }: Pick<Page, 'prose' | 'spans'>): string[] {
  const [, table = ''] = /^\| `npx claimcheck \.\.\.` \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(prose) ?? []
  const rows = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, row]) => `npx claimcheck ${row}`)
  const inText = spans
    .filter((span) => /^(npx claimcheck|claimcheck|npm) [a-z-]/.test(span))
    .map((span) => span.replace(/^claimcheck/, 'npx claimcheck'))
  return [...rows, ...inText]
}

t.test('there are pages to look at', async (t) => {
  t.ok(FILES.includes('README.md'))
  t.ok(FILES.includes('server/docs/commands.md'))
  t.ok(namedCommands(pages.get('server/docs/commands.md')!).length > 15)
})

for (const [file, page] of pages) {
  t.test(`${file}: links lead somewhere, and the commands that it names are there`, async (t) => {
    t.strictSame(brokenLinks(file, page), [])
    const typed = page.blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => commandsIn(text))
    for (const command of [...namedCommands(page), ...typed]) t.equal(await problemOf(command), undefined, command)
  })
}

t.test('every page of the server is linked to by the README', async (t) => {
  const linked = new Set(['README.md', 'server/docs/actions/README.md'].flatMap((page) => pages.get(page)!.links))
  const own = FILES.filter((file) => file.startsWith('server/docs/'))
  t.strictSame(
    own.filter((file) => !linked.has(file)),
    [],
  )
})

t.test('the README of the server has a row for each room, in their order', async (t) => {
  const rows = [...pages.get('server/README.md')!.prose.matchAll(/^\| `([\w.-]+)` \|/gm)].map(([, room]) => room)
  t.strictSame(rows, ROOMS)
})

t.test('pages name subpaths of core that it exports', async (t) => {
  const { exports } = JSON.parse(readFileSync('core/package.json', 'utf8'))
  for (const file of FILES) {
    for (const [name] of readFileSync(file, 'utf8').matchAll(/@claimcheck\/core(\/[\w-]+)?/g)) {
      const key = `.${name.slice('@claimcheck/core'.length)}`
      t.ok(Object.hasOwn(exports, key) || Object.hasOwn(exports, `${key}/*`), `${file}: ${name}`)
    }
  }
})

t.test('the files of the sources that pages name are there', async (t) => {
  for (const [file, { spans }] of pages) {
    for (const span of spans.filter((span) => /^[\w.-]+(\/[\w.-]+)+\.tsx?$/.test(span))) {
      const places = [span, join(dirname(file), span), join(dirname(file), '..', span), join('server/src', span)]
      t.ok(places.some(existsSync), `${file}: ${span}`)
    }
  }
})

t.test('links to files and headings that are not there are found', async (t) => {
  const { links } = readPage(
    '# A page\n[a](core/README.md) [b](#a-page) [c](core/NONE.md) [d](README.md#nowhere) `[e](f)`',
  )
  t.strictSame(brokenLinks('README.md', { links }), ['#a-page', 'core/NONE.md', 'README.md#nowhere'])
})

t.test('commands in the text and in tables are found', async (t) => {
  const { prose, spans } = readPage(
    'Run `npx claimcheck\ndoctor`.\n\n| `npx claimcheck ...` | |\n|---|---|\n| `serve` | a |\n',
  )
  t.strictSame(namedCommands({ prose, spans }), ['npx claimcheck serve', 'npx claimcheck doctor'])
})
