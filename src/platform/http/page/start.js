/** Starts Swagger UI, and mends what it keeps from keyboards and screen readers. */

/** Swagger UI nests a link in the button of each operation. The address follows the button without it. */
const withoutNestedLinks =
  (DeepLink, { React }) =>
  (props) =>
    props.path.includes('/')
      ? React.createElement('span', null, props.text)
      : React.createElement(DeepLink, props);

/** There is a single server to choose, and the field for it has no name. */
const withoutServers = () => () => null;

/** By selector. Swagger UI renders these elements without the attributes, and keeps them. */
const attributes = {
  '.information-container': { role: 'region', 'aria-label': 'Description' },
  '.scheme-container': { role: 'region', 'aria-label': 'Authorization' },
  // The title is the only heading of level 1, and none has level 2.
  h3: { 'aria-level': '2' },
  h4: { 'aria-level': '3' },
  h5: { 'aria-level': '4' },
  // A table is no region.
  'table.responses-table': { role: 'table' },
  // An example scrolls.
  'pre.microlight': { tabindex: '0' },
};

function mend() {
  for (const [selector, wanted] of Object.entries(attributes))
    for (const element of root.querySelectorAll(selector))
      for (const [name, value] of Object.entries(wanted))
        if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

const root = document.querySelector('#swagger-ui');
new MutationObserver(mend).observe(root, { childList: true, subtree: true });

SwaggerUIBundle({
  url: 'openapi.json',
  domNode: root,
  deepLinking: true,
  plugins: [{ wrapComponents: { DeepLink: withoutNestedLinks, ServersContainer: withoutServers } }],
});
