/** Texts as URLs. */
import { parseUrl } from '@claimcheck/core/plugin'
import t from 'tap'

t.test('a text is a URL, or none', async (t) => {
  t.equal(parseUrl('https://Example.com:443/a/../b')?.href, 'https://example.com/b')
  t.equal(parseUrl('/b?c', 'https://example.com/a')?.href, 'https://example.com/b?c')
  for (const text of ['', '/b', 'example.com', 'https://', 'https://a b', 'https://[::']) {
    t.equal(parseUrl(text), undefined, text)
  }
  t.equal(parseUrl('//', 'https://example.com'), undefined)
})

t.test('a host with other characters than those of ASCII is read however often it is asked', async (t) => {
  const hosts = new Set<string | undefined>()
  for (let call = 0; call < 10_000; call++) hosts.add(parseUrl('https://bücher.example')?.host)
  t.strictSame([...hosts], ['xn--bcher-kva.example'])
})
