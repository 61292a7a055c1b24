/** What a user of the generator writes. */
export default {
  input: 'openapi.json',
  output: { path: 'generated', module: { extension: '.js' } },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
};
