import { visible, visibleJson } from '@claimcheck/core/words/plain-text'
import { csvRecord } from '@claimcheck/server/base/csv'
import t from 'tap'

const RLO = '\u202e'

t.test('cells are quoted by RFC 4180, and a record ends with CRLF', async (t) => {
  t.equal(csvRecord(['a', null, '', 'b,c', 'd"e', 'f\r\ng']), 'a,,,"b,c","d""e",f<U+000D><U+000A>g\r\n')
})

t.test('no cell begins a formula, whatever stands before it and however it is written', async (t) => {
  const rows: [text: string, cell: string][] = [
    ['=1+1', `'=1+1`],
    ['+1', `'+1`],
    ['-1', `'-1`],
    ['@SUM(A1)', `'@SUM(A1)`],
    ['\u22121', `'\u22121`],
    ['\t=1', '<U+0009>=1'],
    ['\rx', '<U+000D>x'],
    ['\nx', '<U+000A>x'],
    ['  =1', `"'  =1"`],
    ['\u00a0=1', '<U+00A0>=1'],
    ['\u200b\ufeff=1', '<U+200B><U+FEFF>=1'],
    ['\x01=1', '<U+0001>=1'],
    ['＝1', `'＝1`],
    ['＋1', `'＋1`],
    ['－1', `'－1`],
    ['＠a', `'＠a`],
    ['﹦1', `'﹦1`],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    // Where the separator is a semicolon, a second cell would begin.
    ['a;=1', `"a;'=1"`],
    [';-1', `";'-1"`],
    ['a\n +1', '"a<U+000A> +1"'],
    ['a=1', 'a=1'],
    ['acme/api-1', 'acme/api-1'],
    ['{"n":-1}', '"{""n"":-1}"'],
    ["'=1", "'=1"],
    ['', ''],
  ]
  for (const [text, cell] of rows) t.equal(csvRecord([text]), `${cell}\r\n`, JSON.stringify(text))
})

t.test('a long cell of nothing but space costs no more than its length', async (t) => {
  const start = performance.now()
  csvRecord(['\n'.repeat(1_000_000)])
  t.ok(performance.now() - start < 5000)
})

t.test('characters that are not seen are named, or escaped where the value must stay', async (t) => {
  t.equal(visible(`a${RLO}b\u2067c\u200f`), 'a<U+202E>b<U+2067>c<U+200F>')
  t.equal(visible('עברית ok'), 'עברית ok', 'letters that are read from the right stay')
  t.equal(csvRecord([`${RLO}=1`]), '<U+202E>=1\r\n')
  const json = visibleJson(JSON.stringify({ [`k${RLO}`]: `v${RLO}` }))
  t.equal(json, '{"k\\u202e":"v\\u202e"}')
  t.strictSame(JSON.parse(json), { [`k${RLO}`]: `v${RLO}` })
})
