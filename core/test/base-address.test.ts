import { normalAddress, originOf, requireOrigin, socketAddress } from '@claimcheck/core/hosting'
import t from 'tap'

const origins: [text: string, origin: string | undefined][] = [
  ['https://API.example.com/v3/', 'https://api.example.com'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['tls://Mail.Example.com:993', 'tls://mail.example.com:993'],
  ['TCP://mail.example.com:0143/', 'tcp://mail.example.com:143'],
  ['tls://mail.example.com:443', 'tls://mail.example.com:443'],
  ['tls://münchen.example:993', 'tls://xn--mnchen-3ya.example:993'],
  ['tls://0x7f.1:993', 'tls://127.0.0.1:993'],
  ['tls://[0:0::1]:993', 'tls://[::1]:993'],
  ['file:///etc/passwd', undefined],
  ['tls://mail.example.com', undefined],
  ['tls://mail.example.com:0', undefined],
  ['tls://mail.example.com:65536', undefined],
  ['tls://ann@mail.example.com:993', undefined],
  ['tls://mail.example.com:993/inbox', undefined],
  ['tls://mail.example.com:993?x', undefined],
  ['tls://a b:993', undefined],
  ['tls://a:1:993', undefined],
  ['nonsense', undefined],
]
for (const [text, origin] of origins) {
  t.test(`the origin of ${text} is ${origin ?? 'none'}`, async (t) => {
    if (origin !== undefined) {
      t.equal(originOf(text), origin)
      t.equal(requireOrigin(text), origin)
      return t.equal(originOf(origin), origin, 'and its own')
    }
    t.equal(socketAddress(text), undefined)
    // The URL parser gives schemes that it does not know no origin.
    t.equal(originOf(text), undefined)
    return t.throws(() => requireOrigin(text), TypeError)
  })
}

t.test('one base address has one form', async (t) => {
  t.equal(normalAddress('https://GitLab.example.com/api/v4//'), 'https://gitlab.example.com/api/v4')
  t.equal(normalAddress('TLS://Mail.example.com:993/'), 'tls://mail.example.com:993')
  t.throws(() => normalAddress('nonsense'), TypeError)
})
