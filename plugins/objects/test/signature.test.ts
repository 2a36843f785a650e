/** The check of signatures takes the examples that Amazon publishes, and nothing else. */
import t from 'tap'
import { type SignedRequest, signatureError } from './signature.ts'

const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const KEYS = { AKIAIOSFODNN7EXAMPLE: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }

function example(url: string, names: string, signature: string, range?: string): SignedRequest {
  return {
    method: 'GET',
    url,
    headers: {
      host: 'examplebucket.s3.amazonaws.com',
      ...(range && { range }),
      'x-amz-content-sha256': EMPTY,
      'x-amz-date': '20130524T000000Z',
      authorization: `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${signature}`,
    },
  }
}

/** Of docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
const EXAMPLES = [
  example(
    '/test.txt',
    'host;range;x-amz-content-sha256;x-amz-date',
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    'bytes=0-9',
  ),
  example(
    '/?lifecycle',
    'host;x-amz-content-sha256;x-amz-date',
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ),
  example(
    '/?max-keys=2&prefix=J',
    'host;x-amz-content-sha256;x-amz-date',
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ),
]

t.test('the published examples', async (t) => {
  for (const one of EXAMPLES) {
    t.equal(signatureError(one, KEYS), undefined, one.url)
    t.equal(signatureError({ ...one, url: `${one.url}x` }, KEYS), 'SignatureDoesNotMatch')
    t.equal(signatureError(one, {}), 'InvalidAccessKeyId')
  }
  t.equal(signatureError({ method: 'GET', url: '/', headers: {} }, KEYS), 'AccessDenied')
})
