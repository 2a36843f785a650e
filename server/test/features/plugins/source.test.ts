/** What operators name as a plugin: a package of the registry, an archive or a folder, and nothing that npm would fetch from elsewhere. */
import { join } from 'node:path'
import { readSource } from '@claimcheck/server/features/plugins/source'
import t from 'tap'

t.test('names with and without a version are packages of the registry', async (t) => {
  const rows: readonly (readonly [given: string, name: string, wanted: string | undefined])[] = [
    ['acme', 'acme', undefined],
    ['acme@1.0.0', 'acme', '1.0.0'],
    ['@acme/plugin', '@acme/plugin', undefined],
    ['@acme/plugin@next', '@acme/plugin', 'next'],
    ['acme@^1.0.0-rc.1+b', 'acme', '^1.0.0-rc.1+b'],
  ]
  for (const [given, name, wanted] of rows)
    t.match(await readSource(given, '.'), { name, wanted, archive: undefined }, given)
})

t.test('what npm would fetch from elsewhere is refused, and what is not there', async (t) => {
  const folder = t.testdir({ empty: {} })
  const rows: readonly (readonly [given: string, message: RegExp])[] = [
    ['Not A Name', /is no package: write NAME/],
    ['git+ssh://example.com/x', /is no package: write NAME/],
    ['acme/plugin', /is no package: write NAME/],
    ['https://example.com/x', /is no package: write NAME/],
    ['acme@npm:evil@1.0.0', /is no package: write NAME/],
    ['acme@https://example.com/x', /is no package: write NAME/],
    ['acme@', /is no package: write NAME/],
    ['', /is no package: write NAME/],
    ['a'.repeat(215), /is no package: write NAME/],
    [join(folder, 'missing.tgz'), /There is no file or folder .*missing\.tgz/],
    ['./missing', /There is no file or folder/],
    [join(folder, 'empty'), /has no package\.json/],
  ]
  for (const [given, message] of rows) await t.rejects(readSource(given, folder), { code: 'usage', message }, given)
})
