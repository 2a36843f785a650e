/** Packages that are kept come back as they were, whatever was done to them. */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { keepPackages } from '@claimcheck/server/features/plugins/package-folder'
import t from 'tap'

const FILES = {
  'package.json': '{}',
  'package-lock.json': 'lock',
  node_modules: { '.package-lock.json': 'hidden', '@a': { b: { 'index.js': 'b' } }, c: { 'index.js': 'c' } },
}

t.test('files, folders, links and lists come back', async (t) => {
  const folder = t.testdir(FILES)
  const packages = join(folder, 'node_modules')
  symlinkSync('../c', join(packages, '@a/link'))
  const { ino } = statSync(join(packages, 'c/index.js'))
  const kept = keepPackages(folder)
  t.equal(statSync(join(packages, 'c/index.js')).nlink, 2, 'they take no room')
  rmSync(join(packages, '@a'), { recursive: true })
  mkdirSync(join(packages, 'new'))
  writeFileSync(join(packages, '.package-lock.json'), 'changed')
  for (const list of ['package.json', 'package-lock.json', 'npm-shrinkwrap.json'])
    writeFileSync(join(folder, list), 'x')
  kept.restore()
  t.strictSame(readdirSync(folder).toSorted(), ['node_modules', 'package-lock.json', 'package.json'])
  t.strictSame(readdirSync(packages).toSorted(), ['.package-lock.json', '@a', 'c'])
  t.equal(readFileSync(join(packages, '.package-lock.json'), 'utf8'), 'hidden')
  t.equal(readFileSync(join(packages, '@a/b/index.js'), 'utf8'), 'b')
  t.equal(readlinkSync(join(packages, '@a/link')), '../c')
  t.equal(lstatSync(join(packages, 'c/index.js')).ino, ino)
  t.equal(readFileSync(join(folder, 'package.json'), 'utf8'), '{}')
})

t.test('a folder without packages has none again', async (t) => {
  const folder = t.testdir()
  const kept = keepPackages(folder)
  mkdirSync(join(folder, 'node_modules/new'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{}')
  kept.restore()
  t.strictSame(readdirSync(folder), [])
})

t.test('what is done stays when it is forgotten', async (t) => {
  const folder = t.testdir(FILES)
  const kept = keepPackages(folder)
  rmSync(join(folder, 'node_modules/c'), { recursive: true })
  kept.forget()
  t.strictSame(readdirSync(join(folder, 'node_modules')).toSorted(), ['.package-lock.json', '@a'])
  t.strictSame(readdirSync(folder).toSorted(), ['node_modules', 'package-lock.json', 'package.json'])
})

t.test('links to programs come back alone', async (t) => {
  const folder = t.testdir({ node_modules: { '.bin': {}, c: { 'index.js': 'c' } } })
  const programs = join(folder, 'node_modules/.bin')
  symlinkSync('../c/index.js', join(programs, 'c'))
  const kept = keepPackages(folder)
  rmSync(join(programs, 'c'))
  writeFileSync(join(programs, 'evil'), '')
  writeFileSync(join(folder, 'node_modules/new.js'), '')
  kept.restorePrograms()
  kept.forget()
  t.strictSame(readdirSync(programs), ['c'])
  t.equal(readlinkSync(join(programs, 'c')), '../c/index.js')
  t.strictSame(readdirSync(join(folder, 'node_modules')).toSorted(), ['.bin', 'c', 'new.js'])
})

t.test('a folder that is not there is named, with what to do', async (t) => {
  t.throws(() => keepPackages(join(t.testdir(), 'missing')), {
    code: 'not_configured',
    message: /cannot be written[\s\S]*as the user who owns it/,
  })
})
