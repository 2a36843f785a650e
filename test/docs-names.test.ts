/** What pages of documentation name exists: files and headings that they link to, commands, options, scripts, subpaths of core. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { commandsIn, problemOf } from './docs/help.ts'
import { type Page, readPage } from './docs/markdown.ts'
import { pagesOfRepository } from './docs/pages.ts'
import { ROOMS } from './rooms.ts'

const FILES = pagesOfRepository()
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

/** Commands in the text, and in the first cells of tables that are headed by the program's name. */
function namedCommands({ prose, spans }: Pick<Page, 'prose' | 'spans'>): string[] {
  const tables = [...prose.matchAll(/^\| `\.\/claimcheck \.\.\.` \|.*\n\|[-|]+\n((?:\|.*\n)+)/gm)].map(
    ([, rows]) => rows!,
  )
  const cells = [...tables.join('').matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell]) => cell!)
  const rows = cells.flatMap(spansIn).map((row) => `./claimcheck ${row}`)
  const inText = spans
    .filter((span) => /^(\.\/claimcheck|claimcheck|npx|npm) [a-z-]/.test(span))
    .map((span) => span.replace(/^claimcheck/, './claimcheck'))
  return [...rows, ...inText]
}

t.test('there are pages to look at', async (t) => {
  t.ok(FILES.includes('README.md'))
  t.ok(FILES.includes('server/docs/commands.md'))
  t.ok(namedCommands(pages.get('server/docs/commands.md')!).length > 25)
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

t.test('the README of the server has a line for each room, in their order', async (t) => {
  const rows = [...pages.get('server/README.md')!.prose.matchAll(/^- `([\w./*-]+)`: /gm)].map(([, room]) => room)
  t.strictSame(rows, ROOMS)
})

t.test('the way of a claim names functions that their files export', async (t) => {
  const [, way = ''] = /^## The way of a claim\n([^#]+)/m.exec(pages.get('server/README.md')!.prose) ?? []
  const rows = [...way.matchAll(/\| ((?:`\w+`(?:, )?)+) \| ((?:`[\w./-]+`(?:, )?)+) \|$/gm)]
  t.ok(rows.length > 5)
  for (const [, functions = '', files = ''] of rows) {
    const sources = spansIn(files).map((file) => readFileSync(file, 'utf8'))
    for (const [index, name] of spansIn(functions).entries())
      t.match(sources[index] ?? '', new RegExp(`^export (async )?function ${name}\\(`, 'm'), name)
  }
})

function spansIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, span]) => span!)
}

t.test('pages name subpaths of core that it exports', async (t) => {
  const { exports } = JSON.parse(readFileSync('core/package.json', 'utf8'))
  for (const file of FILES) {
    for (const [name] of readFileSync(file, 'utf8').matchAll(/@claimcheck\/core\/[\w-]+/g)) {
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
    'Run `./claimcheck\ndoctor`.\n\n| `./claimcheck ...` | |\n|---|---|\n| `serve` | a |\n\n| `./claimcheck ...` | |\n|---|---|\n| `try` | a |\n',
  )
  t.strictSame(namedCommands({ prose, spans }), ['./claimcheck serve', './claimcheck try', './claimcheck doctor'])
})
