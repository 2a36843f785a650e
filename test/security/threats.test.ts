/** Each threat that the page about security lists is held by tests that name it in their first comment. */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

const PAGE = 'server/docs/security.md'
const FOLDERS = ['core/test', 'core/client/test', 'plugins', 'server/test', 'test']

/** The ids of its rows. */
function rowsOf(page: string): string[] {
  return [...page.matchAll(/^\| ([A-Z]\d+) \|/gm)].map(([, id]) => id!)
}

/** The ids that the first comment of a test file names, behind the line that says how the file runs. */
function idsOf(source: string): string[] {
  const [comment = ''] = /^(?:\/\/ Test run: [^\n]*\n)?\/\*\*.*?\*\//s.exec(source) ?? []
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

t.test('every threat is held by tests that name it, and tests name threats that there are', async (t) => {
  const rows = rowsOf(readFileSync(PAGE, 'utf8'))
  t.ok(rows.length > 40, `${rows.length} threats`)
  const named = new Set(FOLDERS.flatMap(testFiles).flatMap((file) => idsOf(readFileSync(file, 'utf8'))))
  t.strictSame([...named].toSorted(), rows.toSorted())
})

t.test('ids are read in each form', async (t) => {
  t.strictSame(idsOf('/** A test. Threat A1 of `security.md`. */\n'), ['A1'])
  t.strictSame(idsOf('/**\n * A test.\n * Threats A1, B2 and C10 of `security.md`.\n */\n'), ['A1', 'B2', 'C10'])
  t.strictSame(idsOf('// Test run: slow\n/** A test. Threat A1 of `security.md`. */\n'), ['A1'])
  t.strictSame(idsOf('import x\n/** Threat A1 of `security.md`. */'), [])
  t.strictSame(rowsOf('| A1 | what | how |\n| A2 | b | c |\n'), ['A1', 'A2'])
})
