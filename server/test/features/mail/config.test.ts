import { isMailAddress, readMail } from '@claimcheck/server/features/mail/config'
import t from 'tap'

const FROM = 'Claimcheck <claimcheck@example.com>'

function read(env: Readonly<Record<string, string>>) {
  const problems: string[] = []
  return { settings: readMail(env, (problem) => problems.push(problem)), problems }
}

t.test('mail needs a server and an address to send from', async (t) => {
  t.strictSame(read({}), { settings: undefined, problems: [] })
  t.match(read({ MAIL_FROM: FROM }), { settings: undefined, problems: [/needs SMTP_URL/] })
  t.match(read({ SMTP_URL: 'smtp://mail.example.com' }), { problems: [/^MAIL_FROM/] })
  const { settings, problems } = read({ SMTP_URL: 'smtp://us%40er:p%3Ass@mail.example.com', MAIL_FROM: FROM })
  t.strictSame(problems, [])
  t.strictSame(settings, {
    host: 'mail.example.com',
    port: 587,
    isTlsFromStart: false,
    requiresTls: true,
    login: { user: 'us@er', password: 'p:ss' },
    from: { name: 'Claimcheck', address: 'claimcheck@example.com' },
  })
  const plain = read({ SMTP_URL: 'smtps://mail.example.com:2465', MAIL_FROM: 'a@example.com' }).settings
  t.match(plain, { port: 2465, isTlsFromStart: true, from: { name: '', address: 'a@example.com' } })
})

t.test('TLS is needed, but on loopback or where the operator allows to go without', async (t) => {
  const requires = (SMTP_URL: string, more = {}) => read({ SMTP_URL, MAIL_FROM: FROM, ...more }).settings?.requiresTls
  for (const host of ['mail.example.com', '10.0.0.1', '127.0.0.1.example.com', 'localhost.example.com']) {
    t.equal(requires(`smtp://${host}`), true, host)
  }
  for (const host of ['localhost', '127.0.0.1', '[::1]']) t.equal(requires(`smtp://${host}:2525`), false, host)
  t.equal(requires('smtp://10.0.0.1', { SMTP_PLAINTEXT: 'on' }), false)
  t.match(read({ SMTP_URL: 'smtp://10.0.0.1', MAIL_FROM: FROM, SMTP_PLAINTEXT: 'yes' }), {
    problems: [/^SMTP_PLAINTEXT/],
  })
})

t.test('what is no server is refused, without repeating a password', async (t) => {
  const wrong = ['mail.example.com', 'http://mail.example.com', 'smtp://', 'smtp://user@mail.example.com']
  for (const SMTP_URL of [
    ...wrong,
    'smtp://:secret@mail.example.com',
    'smtp://u:secret@h/path',
    'smtp://u:secret@h?x',
  ]) {
    const { problems } = read({ SMTP_URL, MAIL_FROM: FROM })
    t.match(problems, [/^SMTP_URL/], SMTP_URL)
    t.notMatch(problems.join(), 'secret')
  }
  for (const MAIL_FROM of ['', 'nobody', 'a@b, c@d', 'A\r\nBcc: x@y <a@b>', '<a@b', '"x" <a@b>']) {
    t.match(read({ SMTP_URL: 'smtp://localhost', MAIL_FROM }), { problems: [/^MAIL_FROM/] }, MAIL_FROM)
  }
})

t.test('an address is one address', async (t) => {
  for (const address of ['ann@example.com', "o'neil+tag@sub.example.co", 'jörg@exämple.de'])
    t.ok(isMailAddress(address))
  for (const text of [
    '',
    'ann',
    'a@b@c',
    'a@b,c@d',
    'a@b;c',
    'a b@c',
    'a@b\r\nBcc: x',
    '<a@b>',
    '(x)a@b',
    'a@[127.0.0.1]',
  ]) {
    t.notOk(isMailAddress(text), text)
  }
})
