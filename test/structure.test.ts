import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t from 'tap'
import { breaches, circles, type Sources } from './rooms.ts'

const BIOME = resolve('node_modules/@biomejs/biome/bin/biome')
/** Of a package, as it is. */
function sourcesOf(folder: string): Sources {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
}

t.test('no program makes code from a text, and no page keeps anything in the browser but its cookies', async (t) => {
  const risky = /\beval\(|new Function\(|\b(?:local|session)Storage\b|\bindexedDB\b|\bdocument\.cookie\b/
  const found = ['core/src', 'server/src', 'plugins'].flatMap((folder) =>
    Object.entries(sourcesOf(folder))
      .filter(([file, text]) => !/node_modules|(?:^|\/)(?:test|dist)\//.test(file) && risky.test(text))
      .map(([file]) => `${folder}/${file}`),
  )
  t.strictSame(found, [])
})

t.test('the rooms of the server keep their order, and no files import each other in a circle', async (t) => {
  const sources = sourcesOf('server/src')
  t.ok(Object.keys(sources).length > 100)
  t.strictSame(breaches(sources), [])
})

t.test('no files of core import each other in a circle, types included', async (t) => {
  const sources = sourcesOf('core/src')
  t.ok(Object.keys(sources).length > 80)
  t.strictSame(circles(sources), [])
})

const breachRows: [what: string, sources: Sources, expected: readonly string[]][] = [
  ['an import of an earlier room', { 'web/a.ts': `import { b } from '../base/b.ts'`, 'base/b.ts': '' }, []],
  [
    'an import of a later room',
    { 'base/b.ts': `import { a } from '../web/a.ts'`, 'web/a.ts': '' },
    ['base/b.ts imports web/a.ts'],
  ],
  [
    'a type of a later room',
    { 'base/b.ts': `import type { A } from '../web/a.ts'`, 'web/a.ts': '' },
    ['base/b.ts imports web/a.ts'],
  ],
  [
    'a type in place',
    { 'base/b.ts': `let a: import('../web/a.ts').A`, 'web/a.ts': '' },
    ['base/b.ts imports web/a.ts'],
  ],
  [
    'an export from a later room',
    { 'base/b.ts': `export { a } from '../web/a.ts'`, 'web/a.ts': '' },
    ['base/b.ts imports web/a.ts'],
  ],
  [
    'an import at run time',
    { 'base/b.ts': `await import('../web/a.ts')`, 'web/a.ts': '' },
    ['base/b.ts imports web/a.ts'],
  ],
  ['an import for its effect', { 'base/b.ts': `import '../web/a.ts'`, 'web/a.ts': '' }, ['base/b.ts imports web/a.ts']],
  [
    'the list of features in a room',
    { 'http/a.ts': `import { c } from '../features.ts'`, 'features.ts': '' },
    ['http/a.ts imports features.ts'],
  ],
  ['the list in the command line', { 'cli/a.ts': `import { c } from '../features.ts'`, 'features.ts': '' }, []],
  [
    'a feature in the host',
    { 'host/a.ts': `import { f } from '../features/log/feature.ts'`, 'features/log/feature.ts': '' },
    ['host/a.ts imports features/log/feature.ts'],
  ],
  ['a file beside the rooms', { 'helpers.ts': '' }, ['helpers.ts is in no room']],
  ['a new room', { 'services/a.ts': '' }, ['services/a.ts is in no room']],
  [
    'a circle of types',
    { 'web/a.ts': `import type { B } from './b.ts'`, 'web/b.ts': `import type { A } from './a.ts'` },
    ['cycle: web/a.ts > web/b.ts > web/a.ts'],
  ],
  [
    'a circle of three',
    { 'web/a.ts': `import './b.ts'`, 'web/b.ts': `import './c.ts'`, 'web/c.ts': `import './a.ts'` },
    ['cycle: web/a.ts > web/b.ts > web/c.ts > web/a.ts'],
  ],
]

for (const [what, sources, expected] of breachRows) {
  t.test(`rooms: ${what} is ${expected.length > 0 ? 'refused' : 'allowed'}`, async (t) => {
    t.strictSame(breaches(sources), expected)
  })
}

/** What the linter says of a file that imports this, in a package that declares these dependencies. */
function lint(
  folder: string,
  { file, imported, dependencies }: { file: string; imported: string; dependencies: readonly string[] },
): { readonly status: number | null; readonly output: string } {
  cpSync('biome.json', join(folder, 'biome.json'))
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  const declared = Object.fromEntries(dependencies.map((name) => [name, '1.0.0']))
  const manifest = { name: 'under-test', version: '1.0.0', dependencies: declared }
  writeFileSync(join(folder, file.replace(/\/src\/.*/, ''), 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, file), `import thing from '${imported}'\n\nthing()\n`)
  const args = [BIOME, 'lint', '--vcs-enabled=false', file]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

const lintRows: [file: string, imported: string, allowed: boolean, dependencies?: readonly string[]][] = [
  ['core/src/a.ts', './b.ts', true],
  ['core/src/a.ts', '@noble/hashes/sha2.js', true],
  ['core/src/a.ts', 'node:fs', false],
  ['core/src/a.ts', 'fastify', false],
  ['core/src/a.ts', '@claimcheck/server/config', false],
  ['core/src/a.ts', './testkit/index.ts', false],
  ['core/src/a.ts', './sandbox/command.ts', false],
  ['core/client/src/a.ts', '@claimcheck/core/checker', true],
  ['core/client/src/a.ts', 'node:fs', false],
  ['core/client/src/a.ts', '@claimcheck/server/config', false],
  ['core/cli/src/a.ts', 'node:fs', true],
  ['core/cli/src/a.ts', '@claimcheck/client', true],
  ['core/cli/src/a.ts', '@claimcheck/core/testkit', true],
  ['core/cli/src/a.ts', '@claimcheck/server/config/config', false],
  ['core/cli/src/a.ts', '@claimcheck/plugin-http', false],
  ['core/cli/src/a.ts', '@claimcheck/plugin-anchor-eas', false],
  ['core/cli/src/a.ts', '@claimcheck/plugin-anchor-eas/options', false],
  ['core/cli/src/a.ts', '@claimcheck/plugin-anchor-eas/checker', true],
  ['core/src/testkit/a.ts', 'node:fs', true],
  ['core/src/testkit/a.ts', '../evidence.ts', true],
  ['core/src/testkit/a.ts', '@claimcheck/server/config', false],
  ['core/src/sandbox/a.ts', 'node:fs', true],
  ['core/src/sandbox/a.ts', '@claimcheck/server/config', false],
  ['core/plugin-tools/src/a.ts', '@claimcheck/core/sandbox/command', true],
  ['core/plugin-tools/src/a.ts', '@claimcheck/server/plugins/package', false],
  ['plugins/codehost/src/a.ts', '@claimcheck/core/plugin', true, ['@claimcheck/core']],
  ['plugins/codehost/src/a.ts', '@claimcheck/core/plugin', false],
  ['plugins/codehost/src/a.ts', 'node:child_process', true],
  ['plugins/codehost/src/a.ts', '@claimcheck/server/config', false, ['@claimcheck/server']],
  ['plugins/codehost/src/a.ts', '@claimcheck/plugin-http', false, ['@claimcheck/plugin-http']],
  ['plugins/codehost/src/a.ts', 'awilix', false],
  ['plugins/codehost/src/a.ts', 'ethers', false],
  ['plugins/anchor-eas/src/a.ts', 'ethers', true, ['ethers']],
  ['plugins/anchor-eas/src/a.ts', '@claimcheck/server/config', false, ['@claimcheck/server']],
  ['server/src/http/a.ts', 'fastify', true],
  ['server/src/http/a.ts', 'knex', false],
  ['server/src/features/claims/a.ts', 'awilix', false],
  ['server/src/features/claims/a.ts', '@claimcheck/plugin-codehost', false],
  ['server/src/features/maintenance/a.ts', '@claimcheck/plugin-anchor-eas/checker', false],
  ['server/src/host/container.ts', 'awilix', true],
  ['server/src/storage/a.ts', 'knex', true],
  ['server/src/storage/a.ts', 'fastify', false],
]

for (const [file, imported, allowed, dependencies = []] of lintRows) {
  const declaring = dependencies.length > 0 ? ' that its package declares' : ''
  t.test(`${file} may ${allowed ? '' : 'not '}import ${imported}${declaring}`, async (t) => {
    const { status, output } = lint(t.testdir(), { file, imported, dependencies })
    if (allowed) return t.equal(status, 0, output)
    t.not(status, 0)
    t.match(output, /noRestrictedImports|noNodejsModules|noUndeclaredDependencies/)
  })
}
