/** Each threat that the page about security lists is held by the tests that it names, and each of them says so. */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

const PAGE = 'server/docs/security.md'
const FOLDERS = ['core/test', 'core/client/test', 'plugins', 'server/test', 'test']

/** By the id of its row: the test files that a table names. */
function rowsOf(page: string): Map<string, string[]> {
  const rows = [...page.matchAll(/^\| ([A-Z]\d+) \|.*\| ([^|]*) \|$/gm)]
  return new Map(rows.map(([, id, files]) => [id!, [...files!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!)]))
}

/** The ids that the first comment of a test file names. */
function idsOf(source: string): string[] {
  const [comment = ''] = /^\/\*\*.*?\*\//s.exec(source) ?? []
  const [, named = ''] = /\bThreats? ([A-Z0-9, and]+?) of `security\.md`/.exec(comment) ?? []
  return named.match(/[A-Z]\d+/g) ?? []
}

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name === 'dist' ? [] : testFiles(path)
    return entry.name.endsWith('.test.ts') ? [path] : []
  })
}

t.test('every threat is held by tests, and tests and table name each other', async (t) => {
  const rows = rowsOf(readFileSync(PAGE, 'utf8'))
  t.ok(rows.size > 40, `${rows.size} threats`)
  for (const [id, files] of rows) t.ok(files.length > 0, `${id} is held by a test`)
  const inTable = [...rows].flatMap(([id, files]) => files.map((file) => `${id} ${file}`))
  const inFiles = FOLDERS.flatMap(testFiles).flatMap((file) =>
    idsOf(readFileSync(file, 'utf8')).map((id) => `${id} ${file}`),
  )
  t.strictSame(inFiles.toSorted(), inTable.toSorted())
})

t.test('ids are read in each form', async (t) => {
  t.strictSame(idsOf('/** A test. Threat A1 of `security.md`. */\n'), ['A1'])
  t.strictSame(idsOf('/**\n * A test.\n * Threats A1, B2 and C10 of `security.md`.\n */\n'), ['A1', 'B2', 'C10'])
  t.strictSame(idsOf('import x\n/** Threat A1 of `security.md`. */'), [])
  t.strictSame(rowsOf('| A1 | what | how | `a.test.ts`, `b.test.ts` |\n| A2 | b | c |  |\n').get('A1'), [
    'a.test.ts',
    'b.test.ts',
  ])
})
