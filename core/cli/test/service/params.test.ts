import { readParams } from '@claimcheck/cli/service/params'
import t from 'tap'

t.test('params are texts, JSON or the content of files', async (t) => {
  const folder = t.testdir({ note: 'line\n' })
  t.strictSame(readParams(['a=1', 'b:=1', 'c:={"d":[true]}', 'e=', 'f=x=y', `g=@${folder}/note`, 'h=@@at', 'i=:=']), {
    a: '1',
    b: 1,
    c: { d: [true] },
    e: '',
    f: 'x=y',
    g: 'line',
    h: '@at',
    i: ':=',
  })
  t.strictSame(Object.keys(readParams(['__proto__=x'])), ['__proto__'])
})

for (const [given, message] of [
  [['a'], /no param/],
  [['=a'], /no param/],
  [['a:=x'], /not JSON/],
  [['a=@/nothing/here'], /cannot be read/],
  [['a=1', 'a=2'], /twice/],
] as const) {
  t.test(`${given.join(' ')} is refused`, async (t) => {
    t.throws(() => readParams(given), { code: 'bad_arguments', message })
  })
}
