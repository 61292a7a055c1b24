import { DEMO } from './generator.js';

export interface DemoLogin {
  username: string;
  password: string;
}

export interface DemoCredentials {
  read: DemoLogin;
  write: DemoLogin;
  admin: DemoLogin;
}

/** The properties of the running service that the printed lines need. */
interface DemoGuide {
  baseUrl: string;
  credentials: DemoCredentials;
  /** The current offset of `max`. */
  offset: string;
  /** The `nextoffsetid` of a first page of two products. */
  secondProduct: string;
  docs: boolean;
  console: boolean;
}

/** Lines to paste into a shell, from top to bottom: six steps of a harvest, three writes, and administration. */
export function demoLines(guide: DemoGuide): string[] {
  const { credentials, offset, secondProduct } = guide;
  const feeds = `${guide.baseUrl}/${DEMO.organizationid}/${DEMO.appid}/api/v1`;
  const read = (path: string) => `curl -u ${login(credentials.read)} '${feeds}/${path}'`;
  return [
    '',
    'A demo application waits for you. Paste these lines, from top to bottom:',
    '',
    '# 1. How far is it safe to read?',
    read('product/max'),
    '# 2. What changed up to there? The first page, two products',
    read(`product/default/updates?to=${offset}&limit=2`),
    '# 3. The next page: lastoffsetid is the nextoffsetid of the previous page',
    read(`product/default/updates?to=${offset}&limit=2&lastoffsetid=${secondProduct}`),
    '# 4. What changed and is not a bike? "bikes" is a service: a registered filter',
    read(`product/bikes/softdeletes?to=${offset}&limit=2`),
    '# 5. What is gone?',
    read(`product/harddeletes?to=${offset}`),
    '# 6. What changed in one sales channel?',
    read(`productbychannel/outlet/updates?to=${offset}&limit=2`),
    '',
    ...writes(guide),
    '',
    '# 10. As an administrator: which services are there?',
    `curl -u ${login(credentials.admin)} '${guide.baseUrl}/admin/v1/applications/${DEMO.organizationid}/${DEMO.appid}/services'`,
    '',
    ...(guide.console ? [`In a browser: ${guide.baseUrl}/console, as ${credentialsOf(guide)}`] : []),
    guide.docs
      ? `All endpoints, to read and to try: ${guide.baseUrl}/docs`
      : 'The API description is switched off.',
    '',
  ];
}

function writes({ baseUrl, credentials }: DemoGuide): string[] {
  const members = `${baseUrl}/${DEMO.organizationid}/${DEMO.appid}/api/v0.1/member`;
  const json = `-u ${login(credentials.write)} -H 'Content-Type: application/json'`;
  return [
    '# 7. Create a member, and keep its id',
    `MEMBER=$(curl -s ${json} -d '{"accountnumber":"4711","email":"ada.'$(date +%s)'@example.org"}' '${members}' | tee /dev/stderr | sed 's/^{"id":"\\([^"]*\\)".*/\\1/')`,
    '# 8. Change it: what you leave out stays, null deletes',
    `curl -X PATCH ${json} -d '{"contactname":"Ada","extrafields":{"consent":{"newsletter":true}}}' "${members}/$MEMBER"`,
    '# 9. Give it an address',
    `curl -X PATCH ${json} -d '{"city":"Turku","country":"FI"}' "${members}/$MEMBER/address"`,
  ];
}

function credentialsOf({ credentials: { admin } }: DemoGuide): string {
  return `${admin.username} with the password ${admin.password}`;
}

function login({ username, password }: DemoLogin): string {
  return `${username}:${password}`;
}
