import t from 'tap'
import { afterFile } from '../../../test/support/after-file.ts'
import { startApp } from './support/server.ts'

const app = await startApp()
afterFile(app.close)

t.test('a bad query is refused at its place', async (t) => {
  const rows: [string, string, string][] = [
    ['entries?limit=0', 'limit', 'greater_than_equal'],
    ['entries?limit=101', 'limit', 'less_than_equal'],
    ['entries?limit=-1', 'limit', 'greater_than_equal'],
    ['entries?limit=1.5', 'limit', 'int_parsing'],
    ['entries?limit=abc', 'limit', 'int_parsing'],
    ['entries?limit=', 'limit', 'int_parsing'],
    ['entries?limit=0x10', 'limit', 'int_parsing'],
    ['entries?limit=1e1', 'limit', 'int_parsing'],
    ['entries?limit=%20', 'limit', 'int_parsing'],
    ['entries?limit=1%00', 'limit', 'int_parsing'],
    ['entries?limit=%F0%9F%A6%8A', 'limit', 'int_parsing'],
    ['entries?limit=%', 'limit', 'int_parsing'],
    [`entries?limit=${'9'.repeat(400)}`, 'limit', 'int_parsing'],
    ['entries?limit=5&limit=5', 'limit', 'int_type'],
    ['entries?start=-1', 'start', 'greater_than_equal'],
    ['entries?start=null', 'start', 'int_parsing'],
    ['entries?start=9007199254740992', 'start', 'less_than_equal'],
    ['proof', 'leaf_index', 'missing'],
    ['proof?leaf_index=-1', 'leaf_index', 'greater_than_equal'],
    ['proof?leaf_index=x', 'leaf_index', 'int_parsing'],
    ['proof?leaf_index=0&tree_size=-1', 'tree_size', 'greater_than_equal'],
    ['consistency', 'first', 'missing'],
    ['consistency?first=-1', 'first', 'greater_than_equal'],
    ['consistency?first=1&second=two', 'second', 'int_parsing'],
    ['anchors?limit=0', 'limit', 'greater_than_equal'],
    ['anchors?limit=101', 'limit', 'less_than_equal'],
    ['anchors?before=-1', 'before', 'greater_than_equal'],
  ]
  for (const [path, name, type] of rows) {
    const answer = await app.ask(`/v1/log/${path}`)
    t.equal(answer.status, 422, path)
    t.match(answer.json.detail, [{ loc: ['query', name], type, msg: String }], path)
    t.equal(answer.json.detail.length, 1, path)
    t.equal(answer.headers['cache-control'], 'no-store')
  }
})

t.test('two bad parameters are both named', async (t) => {
  const { json } = await app.ask('/v1/log/entries?start=-1&limit=0')
  t.same(json.detail.map(({ loc }: { loc: string[] }) => loc[1]).sort(), ['limit', 'start'])
})

t.test('an unknown parameter is refused: a misspelt one would show everything', async (t) => {
  for (const name of ['colour', '__proto__', 'constructor'])
    t.match(await app.ask(`/v1/log/entries?limit=1&${name}=red`), {
      status: 422,
      json: { detail: [{ loc: ['query', name], type: 'extra_forbidden' }] },
    })
})
