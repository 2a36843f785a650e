import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t from 'tap'

const BIOME = resolve('node_modules/@biomejs/biome/bin/biome')

/** What the linter says of a file that imports this. */
function lint(
  folder: string,
  file: string,
  imported: string,
): { readonly status: number | null; readonly output: string } {
  cpSync('biome.json', join(folder, 'biome.json'))
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), `import thing from '${imported}'\n\nthing()\n`)
  const args = [BIOME, 'lint', '--vcs-enabled=false', file]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

const rows: [file: string, imported: string, allowed: boolean][] = [
  ['core/src/a.ts', './b.ts', true],
  ['core/src/a.ts', '@noble/hashes/sha2.js', true],
  ['core/src/a.ts', 'node:fs', false],
  ['core/src/a.ts', 'fastify', false],
  ['core/src/a.ts', '@claimcheck/server/config', false],
  ['plugins/codehost/src/a.ts', '@claimcheck/core', true],
  ['plugins/codehost/src/a.ts', 'node:child_process', true],
  ['plugins/codehost/src/a.ts', '@claimcheck/server/config', false],
  ['plugins/codehost/src/a.ts', '@claimcheck/plugin-http', false],
  ['plugins/codehost/src/a.ts', 'awilix', false],
  ['plugins/codehost/src/a.ts', 'ethers', false],
  ['server/src/http/a.ts', 'fastify', true],
  ['server/src/http/a.ts', 'knex', false],
  ['server/src/services/a.ts', 'awilix', false],
  ['server/src/services/a.ts', '@claimcheck/plugin-codehost', false],
  ['server/src/container.ts', 'awilix', true],
  ['server/src/storage/a.ts', 'knex', true],
  ['server/src/storage/a.ts', 'fastify', false],
]

for (const [file, imported, allowed] of rows) {
  t.test(`${file} may ${allowed ? '' : 'not '}import ${imported}`, async (t) => {
    const { status, output } = lint(t.testdir(), file, imported)
    if (allowed) return t.equal(status, 0, output)
    t.not(status, 0)
    t.match(output, /noRestrictedImports|noNodejsModules/)
  })
}
