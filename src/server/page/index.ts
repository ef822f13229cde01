export { PAGE_POLICY, type PageOptions, renderPage } from './html.ts';
export { PAGE_HEADERS, pageRoutes } from './routes.ts';
